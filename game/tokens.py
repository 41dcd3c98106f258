"""What a browser may keep: signed player and round tokens, opaque clip tokens, challenge codes.

All are derived from one secret of the server, so they remain valid after a restart with the same
secret. None reveals which clip is meant: a clip token holds the random id of the round, the
position, and an HMAC over both and the clip's key, so the same clip looks different every time.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
import re
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import TypeGuard

from itsdangerous import BadData, URLSafeSerializer

from agl1k_core.errors import Agl1kError

#: Crockford's base 32: no I, L, O, U, so that a code can be read aloud and typed.
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_MISREAD = str.maketrans("ILO", "110", "- \t\r\n")
_ID_CHARS = 12
_HALF_BITS = 5 * _ID_CHARS // 2
_PASSES = 4
_CHECK_CHARS = 2
_ROOM_CHARS = 6
_CARRY_CHARS = 8
_SIGNATURE_CHARS = 4
_MAX_TOKEN_CHARS = 512
_MOST_KEPT = 2048
_PLAYER_ID = re.compile(r"[0-9a-f]{32}")
_ROUND_ID = re.compile(f"[{_ALPHABET}]{{{_ID_CHARS}}}")
_ROOM_CODE = re.compile(f"[{_ALPHABET}]{{{_ROOM_CHARS}}}")
_CARRY_CODE = re.compile(f"[{_ALPHABET}]{{{_CARRY_CHARS + _SIGNATURE_CHARS}}}")
_CLIP_TOKEN = re.compile(f"([{_ALPHABET}]{{{_ID_CHARS}}})-([0-9])-([A-Za-z0-9_-]{{22}})")


class Tokens:
    """Makes and reads the tokens of one secret (at least 16 bytes)."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < 16:
            raise ValueError(f"the secret has {len(secret)} bytes; at least 16 are needed")
        self._secret = secret
        self._players = self._serializer("agl1k.player")
        self._rounds = self._serializer("agl1k.round")
        # a page gets and sends the same tokens again and again, and to sign one takes a while
        self._player_in = lru_cache(_MOST_KEPT)(partial(_loaded, self._players))
        self._step_in = lru_cache(_MOST_KEPT)(partial(_loaded, self._rounds))
        self._step_of = lru_cache(_MOST_KEPT)(self._signed_step)
        self._clip_mac_of = lru_cache(_MOST_KEPT)(self._clip_mac)
        self._code_of = lru_cache(_MOST_KEPT)(self._hidden)

    def _serializer(self, salt: str) -> URLSafeSerializer:
        signing = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        return URLSafeSerializer(self._secret, salt=salt, signer_kwargs=signing)

    def _mac(self, purpose: str, *parts: str) -> bytes:
        message = "\0".join((purpose, *parts)).encode()
        return hmac.digest(self._secret, message, hashlib.sha256)

    def new_player(self, rng: random.Random) -> str:
        """A signed token for a new random player id."""
        return self.player(f"{rng.getrandbits(128):032x}")

    def player(self, player_id: str) -> str:
        """The signed token for a player id."""
        return str(self._players.dumps(player_id))

    def player_id(self, token: object) -> str | None:
        """The player id of a token signed here; None for anything else."""
        value = self._player_in(token) if _is_sane(token) else None
        return value if isinstance(value, str) and _PLAYER_ID.fullmatch(value) else None

    def step(self, round_id: str, position: int) -> str:
        """The token of one step of a round. The owner is in the stored round."""
        return self._step_of(round_id, position)

    def _signed_step(self, round_id: str, position: int) -> str:
        return str(self._rounds.dumps([round_id, position]))

    def read_step(self, token: object) -> tuple[str, int] | None:
        """(round id, position) of a step token signed here; None for anything else."""
        match self._step_in(token) if _is_sane(token) else None:
            case [str(round_id), int(position)]:
                return round_id, position
        return None

    def clip(self, round_id: str, position: int, key: str) -> str:
        """The opaque name of a clip at a position of a round, usable in a URL."""
        return f"{round_id}-{position}-{self._clip_mac_of(round_id, position, key)}"

    def _clip_mac(self, round_id: str, position: int, key: str) -> str:
        mac = self._mac("clip", round_id, str(position), key)
        return base64.urlsafe_b64encode(mac[:16]).decode().rstrip("=")

    def read_clip(self, token: object) -> tuple[str, int] | None:
        """(round id, position) that a clip token claims; ``clip_matches`` must confirm it."""
        found = _CLIP_TOKEN.fullmatch(token) if isinstance(token, str) else None
        return (found[1], int(found[2])) if found else None

    def clip_matches(self, token: str, round_id: str, position: int, key: str) -> bool:
        """Whether a token was made here for this clip at this position."""
        return hmac.compare_digest(token.encode(), self.clip(round_id, position, key).encode())

    def challenge_code(self, round_id: str) -> str:
        """The code that gives friends the clips of a round, e.g. ``K7QX9MP-T3RVN8H``.

        Ids of rounds are published, and a code shows the player's nickname: so nobody without the
        secret can make one of the other.
        """
        return self._code_of(round_id)

    def _hidden(self, round_id: str) -> str:
        hidden = self._permuted(round_id, range(_PASSES))
        code = hidden + _check(hidden)
        return f"{code[:7]}-{code[7:]}"

    def read_challenge_code(self, text: object) -> str:
        """The round id in a code, however it was typed; raises ``Agl1kError`` on a mistyped one."""
        return self._read(
            _typed(text, "challenge="),
            "This is not a challenge code: a letter is wrong or missing. "
            "Copy the whole link that you were given, or ask for it again.",
        )

    def read_listed_id(self, text: object) -> str:
        """The round id in what the list of a player's rounds calls ``id``, a challenge code.

        Raises ``Agl1kError`` on anything else.
        """
        return self._read(
            _typed(text),
            "This is not the id of a round: a letter is wrong or missing. "
            "Copy the whole id from the list of your rounds.",
        )

    def _read(self, code: str, refusal: str) -> str:
        hidden, check = code[:_ID_CHARS], code[_ID_CHARS:]
        if not _ROUND_ID.fullmatch(hidden) or check != _check(hidden):
            raise Agl1kError(refusal)
        return self._permuted(hidden, reversed(range(_PASSES)))

    def _permuted(self, round_id: str, passes: Iterable[int]) -> str:
        """Another id for each id, by a Feistel network; the passes in reverse undo it."""
        left, right = divmod(_number(round_id), 1 << _HALF_BITS)
        for one in passes:
            mac = int.from_bytes(self._mac("challenge code", str(one), str(right))[:8])
            left, right = right, left ^ mac % (1 << _HALF_BITS)
        return _base32((right << _HALF_BITS) + left, _ID_CHARS)

    def new_carry_code(self, rng: random.Random) -> str:
        """A signed code, to type, that carries a player to another device: 40 random bits."""
        drawn = _base32(rng.getrandbits(5 * _CARRY_CHARS), _CARRY_CHARS)
        return drawn + self._signature(drawn)

    def is_carry_code(self, code: str) -> bool:
        """Whether a code, as ``read_carry_code`` gives it, was signed here."""
        drawn, signature = code[:_CARRY_CHARS], code[_CARRY_CHARS:]
        return hmac.compare_digest(signature, self._signature(drawn))

    def carry_hash(self, code: str) -> str:
        """What is stored of a code: nobody can make the code of it."""
        return self._mac("carry", code).hex()

    def _signature(self, drawn: str) -> str:
        return _base32(int.from_bytes(self._mac("carry code", drawn)[:8]), _SIGNATURE_CHARS)

    def shared_rng(self, *parts: str) -> random.Random:
        """Random numbers that all servers with this secret draw alike, and nobody else can."""
        return random.Random(int.from_bytes(self._mac("random", *parts)))

    def derived_round_id(self, *parts: str) -> str:
        """The id of the only round that a player can have for a daily or a challenge.

        So two tabs that start the same daily at the same time start the same round.
        """
        return _base32(int.from_bytes(self._mac("round", *parts)[:8]), _ID_CHARS)


def new_round_id(rng: random.Random) -> str:
    """A random round id: 60 bits in twelve characters."""
    return _base32(rng.getrandbits(5 * _ID_CHARS), _ID_CHARS)


def new_room_code(rng: random.Random) -> str:
    """A random code for a room: 30 bits in six characters."""
    return _base32(rng.getrandbits(5 * _ROOM_CHARS), _ROOM_CHARS)


def read_room_code(text: object) -> str:
    """A room's code, however it was typed, or from a link; raises ``Agl1kError`` without one."""
    code = _typed(text, "room=")
    if not _ROOM_CODE.fullmatch(code):
        raise Agl1kError(
            "This is not a room's code, which has six letters and digits. "
            "Copy the whole link that you were given, or ask for it again."
        )
    return code


def read_carry_code(text: object) -> str:
    """The code of another device, however it was typed; raises ``Agl1kError`` without one."""
    code = _typed(text)
    if not _CARRY_CODE.fullmatch(code):
        raise Agl1kError(
            "This is not a code of another device, which has twelve letters and digits. "
            "Copy all of it."
        )
    return code


def _typed(text: object, after: str = "\0") -> str:
    """What somebody typed, or what a link has ``after`` a name, in the letters of our codes."""
    typed = str(text or "")[:_MAX_TOKEN_CHARS].rsplit(after, 1)[-1]
    return typed.upper().translate(_MISREAD)


def _check(round_id: str) -> str:
    digest = hashlib.sha256(f"agl1k challenge {round_id}".encode()).digest()
    return _base32(int.from_bytes(digest[:2]), _CHECK_CHARS)


def _base32(number: int, chars: int) -> str:
    return "".join(_ALPHABET[(number >> 5 * place) & 31] for place in reversed(range(chars)))


def _number(base32: str) -> int:
    number = 0
    for letter in base32:
        number = 32 * number + _ALPHABET.index(letter)
    return number


def _is_sane(token: object) -> TypeGuard[str]:
    return isinstance(token, str) and token.isascii() and len(token) <= _MAX_TOKEN_CHARS


def _loaded(serializer: URLSafeSerializer, token: str) -> object:
    try:
        return serializer.loads(token)
    except BadData:
        return None
