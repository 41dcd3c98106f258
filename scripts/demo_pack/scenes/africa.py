"""Four scenes in Africa."""

from __future__ import annotations

from scripts.demo_pack import animals, dsp, instruments, nature, things, voice
from scripts.demo_pack.scene import Place, Scene
from scripts.demo_pack.voice import Speaker


def bazaar(s: Scene) -> None:
    """Arabic sellers, horns, a wordless call from a minaret's loudspeakers in the mode Hijaz."""
    s.decay_s, s.wet = 0.8, 0.12
    rng, t = s.rng, s.duration_s
    sellers = [
        Speaker("ar+m3", 45, 165, 0.97),
        Speaker("ar+m7", 60, 180, 1.0),
        Speaker("ar+f2", 55, 170, 1.04),
    ]
    calls = [
        "طَمَاطِمْ طَازَة! الكِيلُو بِعَشَرَة جِنِيه!",
        "تَعَالْ يَا أُسْتَاذْ، شُوفْ القُمَاشْ، قُطْنْ مَصْرِي!",
        "عِيشْ سُخْنْ، عِيشْ سُخْنْ!",
        "الشَّايْ يَا بَاشَا، بِالنَّعْنَاعْ.",
        "كَامْ دَه؟ لَا، دَه غَالِي قَوِي!",
    ]
    s.bed("human", voice.babble(rng, t, sellers, calls, 6), -36)
    s.bed("environment", nature.city(rng, t), -38)
    for at_s, who, line, lift, level in (
        (1.2, 0, 0, 0.7, -20),
        (5.4, 1, 1, 0.3, -21),
        (10.6, 0, 2, 0.9, -22),
        (14.2, 2, 4, 0.2, -21),
        (18.4, 1, 3, 0.2, -20),
        (22.4, 0, 0, 0.8, -21),
    ):
        s.add("human", voice.shout(voice.say(sellers[who], calls[line], lift=lift)), at_s, level)
    call = [(50, 1.4, "a"), (51, 0.35, "a"), (54, 0.3, "a"), (55, 1.9, "a"), (57, 0.25, "o")]
    call += [(55, 0.25, "o"), (54, 0.5, "a"), (55, 0.2, "a"), (54, 0.25, "a"), (51, 1.3, "e")]
    turn = [(54, 0.3, "a"), (55, 0.3, "a"), (57, 1.6, "a"), (58, 0.2, "a"), (57, 0.2, "a")]
    turn += [(55, 0.3, "a"), (54, 0.4, "a"), (51, 0.5, "a"), (50, 2.2, "o")]
    for at_s, notes in ((3.0, call), (12.5, turn), (20.5, call)):
        sung = things.loudspeaker(voice.sing(rng, notes), 0.31, 0.8)
        padded = dsp.sequence(len(sung) / dsp.RATE + 2, [(0, sung)])
        s.add("human", dsp.reverb(rng, dsp.far(padded, 120), 2.4, 0.7), at_s, -25)
    for at_s, pitch, long in (
        (4.1, 420, 0.18),
        (4.4, 420, 0.3),
        (9.7, 370, 0.6),
        (17.3, 450, 0.2),
        (24.8, 390, 0.4),
    ):
        s.add("things", dsp.far(things.car_horn(long, pitch), 80), at_s, -30)
    s.bed("things", things.clinks(rng, t, 1.3), -39)


def harbour(s: Scene) -> None:
    """Swahili boatmen on a quay: small waves, rope and plank, house crows, an outboard motor."""
    s.wet = 0.03
    rng, t = s.rng, s.duration_s
    people = [
        Speaker("sw+m2", 40, 150, 0.98),
        Speaker("sw+m5", 55, 165),
        Speaker("sw+f3", 55, 160, 1.05),
    ]
    s.bed("nature", nature.lapping(rng, t), -32)
    s.bed("nature", nature.surf(rng, t, 6), -36)
    for at_s, who, line, lift, level in (
        (0.9, 0, "Karibu, karibu sana! Boti inaondoka sasa hivi.", 0.3, -20),
        (5.4, 2, "Samaki wabichi leo! Shilingi elfu mbili tu.", 0.5, -21),
        (10.2, 1, "Habari za asubuhi, kaka? Bahari imetulia leo.", 0.0, -21),
        (14.6, 0, "Nzuri sana. Vuta kamba, vuta, polepole!", 0.3, -20),
        (19.0, 1, "Haya, twende, twende! Abiria wote ndani.", 0.6, -20),
        (23.8, 2, "Asante, dada. Tutaonana kesho.", 0.1, -22),
    ):
        s.add("human", voice.shout(voice.say(people[who], line, lift=lift)), at_s, level)
    for at_s in (3.9, 8.8, 13.4, 17.8, 22.6):
        s.add(
            "things",
            things.creak(rng, float(rng.uniform(0.7, 1.3)), float(rng.uniform(60, 95))),
            at_s,
            -30,
        )
    s.bed(
        "animal", animals.scatter(rng, t, lambda: animals.caw(rng, 560, 0.2), 1.7, spread=0.8), -33
    )
    motor = things.engine(rng, 9, [(0, 18), (1, 40), (5, 62), (9, 66)])
    s.add("things", motor * dsp.course([(0, 0), (0.5, 0.5), (3, 1), (9, 0.1)], 9), 19.5, -32)


def thumb_piano(s: Scene) -> None:
    """Two interlocked mbira parts over a 48-pulse cycle, with rattles; evening insects."""
    s.decay_s, s.wet = 0.5, 0.1
    rng, t = s.rng, s.duration_s
    roots = [(43, 47, 50), (43, 47, 52), (43, 48, 52), (45, 48, 52)]
    lead, answer = [], []
    for bar in range(8):
        for third in range(3):
            low, middle, high = roots[(bar + third) % 4]
            at = bar * 12 + third * 4
            lead += [
                (at, low, 4),
                (at, high + 12, 3),
                (at + 2, middle + 12, 3),
                (at + 3, high + 12, 2),
            ]
            answer += [(at + 1, middle, 3), (at + 1, low + 24, 2)]
            if bar > 1:
                answer.append((at + 3, high + (24 if bar % 2 else 12), 2))
    beat_s = t / 94

    def tongue(pitch_hz: float, _: float) -> dsp.Sound:
        return instruments.mbira(rng, pitch_hz)

    s.bed("music", instruments.play(t, lead, beat_s, tongue, rng, 0.004), -20)
    entry = [(0.0, 0.0), (5.0, 0.0), (6.5, 1.0), (t, 1.0)]
    s.bed("music", instruments.play(t, answer, beat_s, tongue, rng, 0.004), -22, entry)
    shakes = []
    for pulse in range(int(t / beat_s)):
        level = (1.0, 0.0, 0.45)[pulse % 3]
        shakes.append((pulse * beat_s, level * instruments.shaker(rng, 0.1, 3500)))
    s.bed("music", dsp.unit(dsp.sequence(t, shakes)), -31, [(0, 0), (8, 0), (10, 1), (t, 1)])
    s.bed("animal", animals.crickets(rng, t, 3900, 4), -42)
    s.bed("animal", animals.scatter(rng, t, lambda: _dove(), 4.4, start_s=1.5), -36)


def _dove() -> dsp.Sound:
    """Cape turtle dove: kuk-COORR-uk, again and again: the bush says work harder."""
    notes = []
    for number in range(2):
        at_s = number * 1.05
        notes += [
            (at_s, 0.6 * animals.whistle([(0, 540), (0.12, 560)])),
            (at_s + 0.2, animals.whistle([(0, 640), (0.32, 600)], 27, 0.03)),
            (at_s + 0.62, 0.6 * animals.whistle([(0, 530), (0.16, 510)])),
        ]
    return dsp.far(dsp.sequence(2.2, notes), 30)


def penguins(s: Scene) -> None:
    """A colony of African penguins that bray like donkeys, on a windy shore with gulls."""
    rng, t = s.rng, s.duration_s
    s.bed("nature", nature.surf(rng, t, 8, 0.3), -28)
    s.bed("nature", nature.wind(rng, t, 380, 0.2), -35)
    for at_s, level in ((2.0, -20), (7.4, -24), (9.6, -21), (15.2, -27), (16.8, -20), (22.8, -22)):
        s.add("animal", animals.bray(rng), at_s, level)
    s.bed("animal", dsp.far(animals.scatter(rng, t, lambda: animals.bray(rng), 1.9), 90), -34)
    s.bed("animal", animals.scatter(rng, t, lambda: animals.gull(rng), 6.5, start_s=5), -34)


PLACES = (
    Place(
        "khan el khalili",
        30.0477,
        31.2622,
        "Sellers in a bazaar",
        "Computer voices sell tomatoes, bread and tea in Arabic; a wordless line in the mode Hijaz"
        " is sung through synthetic loudspeakers over horns and a crowd.",
        29,
        bazaar,
    ),
    Place(
        "stone town quay",
        -6.1612,
        39.1876,
        "Boatmen at the old harbour",
        "Computer voices in Swahili on a quay of synthetic waves, with creaking planks, house crows"
        " and an outboard motor.",
        28,
        harbour,
    ),
    Place(
        "mbare mbira",
        -17.8577,
        31.0386,
        "Thumb pianos at dusk",
        "Two interlocked parts of a modelled mbira with buzzing shells and rattles, a tune of our"
        " own; synthetic turtle doves and crickets.",
        29,
        thumb_piano,
    ),
    Place(
        "robben island",
        -33.806,
        18.366,
        "A penguin colony by the surf",
        "Modelled African penguins bray over synthetic surf and wind, with gulls.",
        28,
        penguins,
    ),
)
