"""Four scenes in South America."""

from __future__ import annotations

from scripts.demo_pack import animals, dsp, instruments, nature, things, voice
from scripts.demo_pack.scene import Place, Scene
from scripts.demo_pack.voice import Speaker


def beach_sellers(s: Scene) -> None:
    """A Brazilian beach: sellers in Portuguese over surf, a samba group with a cuica."""
    s.wet = 0.03
    rng, t = s.rng, s.duration_s
    man = Speaker("pt-br+m7", 52, 170, 1.0)
    lady = Speaker("pt-br+f2", 55, 165, 1.03)
    boy = Speaker("pt-br+m2", 65, 175, 1.08)
    s.bed("nature", nature.surf(rng, t, 7), -29)
    for at_s, who, line, lift, level in (
        (1.0, man, "Olha a água de coco! Geladinha, cinco reais!", 0.8, -20),
        (5.3, lady, "Acarajé quentinho, meu bem! Com vatapá e camarão.", 0.5, -20),
        (10.4, boy, "Queijo coalho! Queijo na brasa, freguesa!", 0.8, -20),
        (14.8, lady, "Vem cá, menino, me dá dois, por favor.", 0.1, -21),
        (18.8, man, "Água de coco! Olha o coco gelado!", 0.9, -21),
        (23.2, boy, "Obrigado, tia! Bom domingo!", 0.4, -21),
    ):
        s.add("human", voice.shout(voice.say(who, line, lift=lift)), at_s, level)
    beat_s = 0.56
    samba = dsp.unit(dsp.sequence(t, _samba(s, beat_s)))
    s.bed("music", dsp.far(samba, 60), -29, [(0, 0.35), (10, 0.7), (20, 1.1), (t, 1.2)])


def _samba(s: Scene, beat_s: float) -> list[tuple[float, dsp.Sound]]:
    rng = s.rng
    low, high = instruments.drum(rng, 58, 0.6), instruments.drum(rng, 76, 0.35)
    tick = instruments.drum(rng, 950, 0.07, 1.1, 0.8)
    pattern = "x.xx.x.xx.x.xx.x"
    events = []
    for beat in range(int(s.duration_s / beat_s)):
        at_s = beat * beat_s
        events.append((at_s, 1.6 * (low if beat % 2 else high)))
        for step in range(4):
            place_s = at_s + step * beat_s / 4
            events.append((place_s, (0.35, 0.2, 0.2, 0.32)[step] * instruments.shaker(rng, 0.07)))
            if pattern[(beat * 4 + step) % 16] == "x":
                events.append((place_s, 0.8 * tick))
        if beat % 8 in (2, 3, 6):
            events.append((at_s, 0.7 * instruments.cuica(520, 0.16)))
            events.append((at_s + beat_s / 2, 0.7 * instruments.cuica(390, 0.22)))
    return events


def andes_market(s: Scene) -> None:
    """A Quechua market: sellers, two panpipes that share one tune, a drum, thin wind."""
    s.decay_s, s.wet = 0.9, 0.08
    rng, t = s.rng, s.duration_s
    mother = Speaker("qu+f2", 50, 150, 1.04)
    man = Speaker("qu+m3", 42, 150, 0.97)
    girl = Speaker("qu+f4", 65, 160, 1.12)
    talk = ["Papata, sarata rantikuy, caserita.", "Hayk'ataq kayri?", "Hamuy, hamuy, mamáy."]
    s.bed("human", voice.babble(rng, t, [mother, man, girl], talk, 5), -38)
    s.bed("nature", nature.wind(rng, t, 700, 0.35), -37)
    for at_s, who, line, lift, level in (
        (1.0, mother, "Hamuy, mamáy! Papata, sarata rantikuy, caserita!", 0.5, -20),
        (6.0, man, "Allillanchu. Hayk'ataq kay millma punchu?", 0.0, -20),
        (10.8, mother, "Pisqa chunka sol, taytáy. Sumaqmi, llampu.", 0.1, -20),
        (16.0, girl, "Kukata, ch'uñuta, t'antata apamuni!", 0.6, -20),
        (20.4, man, "Chiri kashan kunan. Añay, urpichay.", 0.0, -21),
        (24.8, girl, "Paqarinkama!", 0.5, -21),
    ):
        s.add("human", voice.say(who, line, lift=lift), at_s, level)
    tune = [
        (0, 76, 1),
        (1, 79, 0.5),
        (1.5, 81, 0.5),
        (2, 79, 1),
        (3, 76, 1),
        (4, 74, 0.5),
        (4.5, 76, 0.5),
    ]
    tune += [
        (5, 72, 1),
        (6, 69, 1.8),
        (8, 72, 1),
        (9, 74, 0.5),
        (9.5, 76, 0.5),
        (10, 74, 1),
        (11, 72, 1),
    ]
    tune += [(12, 69, 0.5), (12.5, 67, 0.5), (13, 72, 1), (14, 69, 1.8)]
    notes = [(16 * bar + beat, midi, beats) for bar in range(4) for beat, midi, beats in tune]
    pipes = instruments.play(t, notes, 0.5, lambda f, d: instruments.pipe(rng, f, d), rng)
    fifths = [(beat, midi - 7, beats) for beat, midi, beats in notes]
    second = instruments.play(t, fifths, 0.5, lambda f, d: instruments.pipe(rng, f, d), rng)
    beats = [
        (n * 0.5, (1.0 if n % 2 == 0 else 0.5) * instruments.drum(rng, 82, 0.4))
        for n in range(int(t * 2))
    ]
    band = dsp.unit(pipes + 0.6 * second + 0.5 * dsp.unit(dsp.sequence(t, beats)))
    s.bed("music", dsp.far(band, 30), -30, [(0, 0.5), (8, 1), (20, 1.1), (t, 0.8)])
    s.bed("animal", animals.scatter(rng, t, lambda: animals.goat(rng, 300), 7, start_s=4.6), -34)


def tango_corner(s: Scene) -> None:
    """A bandoneon and a plucked bass in minor, marked and cut short; buses and cobbles."""
    s.decay_s, s.wet = 0.7, 0.1
    rng, t = s.rng, s.duration_s
    tune = [
        [(0.5, 69, 0.5), (1, 72, 0.5), (1.5, 76, 1.25), (3, 75, 0.5), (3.5, 76, 0.5)],
        [(0, 77, 1), (1.5, 76, 0.25), (1.75, 74, 0.25), (2, 72, 1.5), (3.5, 71, 0.5)],
        [(0.5, 71, 0.5), (1, 74, 0.5), (1.5, 77, 1.25), (3, 76, 0.5), (3.5, 74, 0.5)],
        [
            (0, 76, 0.5),
            (0.5, 75, 0.25),
            (0.75, 74, 0.25),
            (1, 72, 0.5),
            (1.5, 71, 0.5),
            (2, 69, 1.6),
        ],
    ]
    chords = [(57, 60, 64), (50, 57, 65), (52, 56, 62), (57, 60, 64)]
    marked, bass = [], []
    for bar in range(14):
        for beat in (0, 1, 2, 3):
            marked += [(bar * 4 + beat, midi, 0.3) for midi in chords[bar % 4]]
        root = chords[bar % 4][0] - 12
        bass += [
            (bar * 4, root, 0.9),
            (bar * 4 + 1.5, root + 7, 0.5),
            (bar * 4 + 2, root, 0.9),
            (bar * 4 + 3, root + 7, 0.7),
        ]
    beat_s = 0.54
    lead = instruments.play(
        t,
        instruments.repeat(tune * 4, 4),
        beat_s,
        lambda f, d: instruments.reeds(f, d * 0.9, (0, 1200), 3.5),
        rng,
        0.018,
    )
    s.bed("music", lead, -20, [(0, 0), (4.2, 0), (4.3, 1), (t, 1)])
    s.bed(
        "music",
        instruments.play(t, marked, beat_s, lambda f, d: instruments.reeds(f, d, (0,), 5), rng),
        -26,
    )
    s.bed(
        "music",
        instruments.play(t, bass, beat_s, lambda f, d: instruments.pluck(rng, f, 0.7, 0.15), rng),
        -24,
    )
    s.bed("environment", nature.city(rng, t), -37)
    for at_s in (6.0, 19.5):
        bus = things.engine(rng, 8, [(0, 28), (3, 42), (3.4, 30), (8, 46)], 110)
        s.add("things", bus * dsp.course([(0, 0), (3, 1), (5, 0.8), (8, 0)], 8), at_s, -28)
        s.add("things", things.air_brake(rng), at_s + 0.8, -33)
    s.bed("things", things.steps(rng, t, 0.58), -37)
    s.bed("things", things.clinks(rng, t, 0.5), -40)


def rainforest(s: Scene) -> None:
    """The Amazon before a storm: screaming pihas, oropendolas, frogs, cicadas; thunder and rain."""
    s.decay_s, s.wet = 1.1, 0.16
    rng, t = s.rng, s.duration_s
    s.bed(
        "animal",
        animals.cicada(rng, t, 5600, 140, [(0, 0.6), (6, 1), (14, 0.7), (20, 0.2), (t, 0.1)]),
        -36,
    )
    s.bed(
        "animal",
        animals.frogs(rng, t, [(900, 0.1, 0.7), (420, 0.3, 1.9), (1500, 0.06, 0.5)]),
        -36,
        [(0, 0.5), (t, 1.2)],
    )
    for at_s, level in ((1.0, -21), (6.2, -26), (9.4, -20), (15.6, -22), (19.6, -27)):
        s.add("animal", animals.piha(rng), at_s, level)
    for at_s, level in ((4.2, -24), (12.6, -23), (18.0, -26)):
        s.add("animal", animals.oropendola(rng), at_s, level)
    s.bed(
        "animal",
        animals.scatter(rng, t, lambda: animals.bulbul(rng, 3), 3.5, start_s=2.6),
        -37,
        [(0, 1), (18, 1), (22, 0), (t, 0)],
    )
    s.add("nature", nature.thunder(rng, 7), 13.8, -23)
    s.add("nature", nature.thunder(rng, 7), 23.0, -21)
    s.bed("nature", nature.rain(rng, t, 0.8), -24, [(0, 0), (15, 0.02), (20, 0.5), (25, 1), (t, 1)])
    s.bed("nature", nature.leaves(rng, t), -35, [(0, 0.3), (12, 0.6), (17, 1.4), (t, 1)])


PLACES = (
    Place(
        "salvador beach",
        -13.0036,
        -38.533,
        "Coconut water on the beach",
        "Computer voices sell food and drink in Brazilian Portuguese over synthetic surf; modelled"
        " drums, shakers and a cuica play a samba rhythm.",
        28,
        beach_sellers,
    ),
    Place(
        "pisac market",
        -13.4228,
        -71.8475,
        "Potatoes, maize and panpipes",
        "Computer voices trade in Quechua; modelled panpipes in parallel and a drum play a tune of"
        " our own; synthetic wind and goats.",
        28,
        andes_market,
    ),
    Place(
        "san telmo corner",
        -34.6206,
        -58.3714,
        "A tango at the corner",
        "A modelled bandoneon and a plucked bass play a tango of our own; synthetic buses and steps"
        " pass.",
        28,
        tango_corner,
    ),
    Place(
        "leticia forest",
        -4.2153,
        -69.9406,
        "The forest before the storm",
        "Modelled screaming pihas, oropendolas, tree frogs and cicadas until synthetic thunder and"
        " rain take over.",
        30,
        rainforest,
    ),
)
