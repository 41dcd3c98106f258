"""Four scenes in Oceania."""

from __future__ import annotations

from scripts.demo_pack import animals, dsp, instruments, nature, things, voice
from scripts.demo_pack.scene import Place, Scene
from scripts.demo_pack.voice import Speaker


def gum_forest(s: Scene) -> None:
    """An Australian escarpment at dawn: whipbirds, kookaburras, magpies, wind in the leaves."""
    s.decay_s, s.wet = 1.3, 0.14
    rng, t = s.rng, s.duration_s
    s.bed("nature", nature.leaves(rng, t), -35)
    s.bed("animal", animals.crickets(rng, t, 3600, 3), -44)
    for at_s, level in ((1.0, -22), (9.6, -25), (20.2, -22)):
        s.add("animal", animals.whipbird(rng), at_s, level)
    for at_s, level in ((4.6, -20), (6.2, -24), (21.8, -21)):
        s.add("animal", animals.kookaburra(rng), at_s, level)
    for at_s, level in ((12.2, -23), (15.4, -25), (17.6, -22)):
        s.add("animal", animals.magpie(rng), at_s, level)
    s.bed("animal", dsp.far(animals.scatter(rng, t, lambda: _bellbird(), 0.9, spread=0.7), 50), -36)


def _bellbird() -> dsp.Sound:
    """Bell miner: one clear ping."""
    return animals.whistle([(0, 2620), (0.09, 2600)], overtone=0.15)


def marae(s: Scene) -> None:
    """A Maori welcome by a bubbling lake: speakers, tui, mud pools, a soft guitar."""
    s.wet, s.decay_s = 0.05, 0.5
    rng, t = s.rng, s.duration_s
    woman = Speaker("mi+f2", 50, 140, 1.02)
    man = Speaker("mi+m3", 38, 140, 0.95)
    child = Speaker("mi+f4", 70, 155, 1.16)
    s.bed("nature", nature.leaves(rng, t), -38)
    s.bed("nature", _mud_pool(s), -33)
    for at_s, who, line, lift, level in (
        (1.0, woman, "Haere mai rā, ngā manuhiri, haere mai, haere mai!", 0.8, -20),
        (7.0, man, "Tēnā koutou, tēnā koutou, tēnā koutou katoa.", 0.1, -20),
        (11.9, man, "Nau mai ki tō mātou marae. He rā ātaahua tēnei.", 0.0, -20),
        (17.0, child, "Kia ora, e koro! Kei te pēhea koe?", 0.3, -20),
        (20.4, man, "Kei te pai au, e moko. Haere mai ki te kai.", 0.0, -20),
        (25.0, woman, "Āe, kua reri te kai!", 0.4, -21),
    ):
        s.add("human", voice.say(who, line, lift=lift), at_s, level)
    for at_s, level in ((4.3, -25), (9.8, -24), (15.4, -25), (23.6, -25)):
        s.add("animal", animals.tui(rng), at_s, level)
    s.bed("animal", animals.scatter(rng, t, lambda: animals.bulbul(rng, 3), 4.6, start_s=3), -38)
    chords = [(48, 55, 60, 64), (53, 57, 60, 65), (55, 59, 62, 67), (48, 55, 60, 64)]
    strums = []
    for bar in range(12):
        for step, down in (
            (0.0, True),
            (1.0, True),
            (1.5, False),
            (2.5, False),
            (3.0, True),
            (3.5, False),
        ):
            strums.append(
                ((bar * 4 + step) * 0.55, instruments.strum(rng, chords[bar % 4], 1.2, down, 0.3))
            )
    s.bed(
        "music",
        dsp.far(dsp.unit(dsp.sequence(t, strums)), 60),
        -35,
        [(0, 0), (10, 0.2), (18, 1), (t, 1)],
    )


def _mud_pool(s: Scene) -> dsp.Sound:
    """Hot mud: slow, deep plops."""
    events = []
    for at_s in s.rng.uniform(0, s.duration_s, int(s.duration_s * 5)):
        start = float(s.rng.uniform(110, 320))
        plop = dsp.oscillate(dsp.course([(0, start), (0.09, start * 1.9)], 0.09), 0.09, [1, 0.2])
        events.append(
            (float(at_s), plop * dsp.decay(0.09, 0.1, 0.01) * float(s.rng.uniform(0.3, 1)))
        )
    steam = 0.15 * dsp.band(dsp.noise(s.rng, s.duration_s), 2000, 9000)
    return dsp.unit(dsp.unit(dsp.sequence(s.duration_s, events)) + steam)


def island_drums(s: Scene) -> None:
    """Two lali log drums call across a Fijian village: rain on iron, the reef, mynas, a rooster."""
    s.decay_s, s.wet = 0.7, 0.1
    rng, t = s.rng, s.duration_s
    s.bed(
        "nature",
        nature.iron_roof(rng, t),
        -30,
        [(0, 0.25), (7, 0.4), (15, 1.2), (22, 0.8), (t, 0.3)],
    )
    s.bed("nature", nature.surf(rng, t, 11), -33)
    deep, high = instruments.log_drum(rng, 118, 0.6), instruments.log_drum(rng, 163, 0.45)
    events = []
    at_s, bar = 1.2, 0
    while at_s < t - 2:
        step = 0.30 - 0.004 * min(bar, 20)
        for number, stroke in enumerate("D.hDh.D.hhD.D.h."):
            if stroke != ".":
                body = deep if stroke == "D" else high
                events.append((at_s + number * step / 2, body * float(rng.uniform(0.75, 1))))
        at_s += 8 * step
        bar += 1
        if bar % 4 == 0:
            at_s += 1.1
    s.bed("music", dsp.unit(dsp.sequence(t, events)), -20)
    for at_s, level in ((4.6, -27), (19.8, -30)):
        s.add("animal", dsp.far(animals.rooster(rng), 50), at_s, level)
    s.bed(
        "animal",
        animals.scatter(rng, t, lambda: _myna(s), 3.6, start_s=2.4),
        -30,
        [(0, 1), (13, 0.7), (t, 0.9)],
    )


def _myna(s: Scene) -> dsp.Sound:
    """Common myna: each note twice, squeaks and chatter."""
    rng = s.rng
    events = []
    at_s = 0.0
    for _ in range(3):
        low = float(rng.uniform(1200, 2800))
        note = animals.whistle([(0, low), (0.08, low * 1.4), (0.14, low * 0.9)], overtone=0.3)
        events += [(at_s, note), (at_s + 0.2, note)]
        at_s += 0.46
    return dsp.sequence(at_s + 0.3, [*events, (at_s, 0.3 * animals.caw(rng, 700, 0.15))])


def lagoon_radio(s: Scene) -> None:
    """A Tahitian morning: French from a radio, ukulele and toere, reef surf, roosters."""
    s.wet, s.decay_s = 0.05, 0.5
    rng, t = s.rng, s.duration_s
    host = Speaker("fr-fr+f2", 50, 165, 1.03)
    man = Speaker("fr-fr+m3", 42, 160, 0.97)
    s.bed("nature", nature.surf(rng, t, 9), -33)
    for at_s, line in (
        (1.0, "Ia ora na, et bienvenue sur la radio du lagon. Il est sept heures."),
        (6.6, "La houle du sud atteindra un mètre cinquante sur le récif."),
        (11.4, "Prudence dans les passes. Et maintenant, un peu de musique."),
    ):
        s.add("human", things.radio(rng, voice.say(host, line)), at_s, -20)
    static = things.radio(rng, dsp.noise(rng, 15, 2), 1.0)
    s.add("channel", dsp.fades(static, 0.3, 0.4), 0.3, -38)
    for at_s, line, lift in (
        (20.4, "Tu veux du poisson cru, Moana?", 0.2),
        (23.8, "Oui, au lait de coco. Māuruuru!", 0.3),
    ):
        s.add("human", voice.say(man if at_s < 22 else host, line, lift=lift), at_s, -20)
    beat_s = 0.43
    chords = [(67, 60, 64, 69), (65, 60, 65, 69), (67, 62, 65, 71), (67, 60, 64, 72)]
    strums = []
    for beat in range(int(t / beat_s)):
        for step, down in ((0.0, True), (0.25, False), (0.5, True), (0.75, False)):
            strum = instruments.strum(rng, chords[(beat // 4) % 4], 0.35, down, 0.7)
            strums.append(((beat + step) * beat_s, strum * (1.0 if step == 0.5 else 0.6)))
    s.bed(
        "music",
        dsp.unit(dsp.sequence(t, strums)),
        -26,
        [(0, 0.12), (15, 0.15), (16, 1), (19.6, 0.9), (20.4, 0.4), (t, 0.45)],
    )
    dry, drier = instruments.log_drum(rng, 430, 0.09), instruments.log_drum(rng, 610, 0.07)
    taps = []
    for step in range(int(t / beat_s * 4)):
        mark = "XxxXxxXxXxxXxxxx"[step % 16]
        taps.append((step * beat_s / 4, dry if mark == "X" else 0.55 * drier))
    s.bed(
        "music",
        dsp.unit(dsp.sequence(t, taps)),
        -28,
        [(0, 0), (15.2, 0), (16, 1), (19.6, 0.9), (20.4, 0.35), (t, 0.4)],
    )
    for at_s in (5.4, 19.2):
        s.add("animal", dsp.far(animals.rooster(rng), 40), at_s, -28)


PLACES = (
    Place(
        "katoomba dawn",
        -33.7325,
        150.312,
        "Dawn on the escarpment",
        "Modelled whipbirds, kookaburras, magpies and bell miners over synthetic wind in leaves.",
        28,
        gum_forest,
    ),
    Place(
        "rotorua marae",
        -38.129,
        176.244,
        "A welcome by the hot pools",
        "Computer voices greet in Maori by synthetic mud pools; modelled tui birds and a guitar.",
        28,
        marae,
    ),
    Place(
        "suva lali",
        -18.1416,
        178.4419,
        "Log drums and rain on iron",
        "Two modelled log drums call over synthetic rain on an iron roof and a reef; mynas and a"
        " rooster.",
        28,
        island_drums,
    ),
    Place(
        "papeete radio",
        -17.54,
        -149.568,
        "Seven o'clock on the lagoon",
        "A computer voice reads the sea report in French on a synthetic radio; modelled ukulele and"
        " slit drums, reef surf and roosters.",
        28,
        lagoon_radio,
    ),
)
