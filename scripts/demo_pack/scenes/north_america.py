"""Four scenes in North America, the Caribbean and Greenland among them."""

from __future__ import annotations

from scripts.demo_pack import animals, dsp, instruments, nature, things, voice
from scripts.demo_pack.scene import Place, Scene
from scripts.demo_pack.voice import Speaker

HORN_HZ = (311.1, 370.0, 415.3, 493.9, 622.3)


def freight_train(s: Scene) -> None:
    """A grade crossing on the prairie: katydids, the bell, long-long-short-long, a long train."""
    s.decay_s, s.wet = 1.6, 0.12
    rng, t = s.rng, s.duration_s
    s.bed("animal", animals.katydids(rng, t), -31, [(0, 1), (9, 1), (14, 0.5), (t, 0.6)])
    s.bed("animal", animals.crickets(rng, t, 4300, 6), -36)
    bell = things.crossing_bell(t)
    s.bed("things", bell, -29, [(0, 0), (4.4, 0), (4.5, 1), (t, 1)])
    for at_s, long_s, metres, level in (
        (5.2, 2.3, 420, -26),
        (8.4, 2.3, 260, -24),
        (11.5, 0.7, 150, -22),
        (12.8, 3.2, 60, -20),
    ):
        s.add("things", dsp.far(things.chord_horn(long_s, HORN_HZ), metres), at_s, level)
    diesel = things.engine(rng, t, [(0, 21), (14, 23), (t, 20)], 95)
    s.bed("things", dsp.far(diesel, 20), -25, [(0, 0.03), (8, 0.15), (14, 1), (20, 0.3), (t, 0.1)])
    cars = things.rolling(rng, t, 0.12, [(0, 0.9), (t, 0.9)])
    s.bed("things", cars, -23, [(0, 0.0), (9, 0.1), (15, 0.8), (18, 1), (t, 0.9)])
    s.add("things", things.squeal(rng, 4.5, 1500), 19.5, -34)


def steel_band(s: Scene) -> None:
    """Steel pans and the iron of the engine room, a calypso of our own; whistling frogs."""
    s.decay_s, s.wet = 0.6, 0.1
    rng, t = s.rng, s.duration_s
    phrase = [
        [
            (0, 79, 0.5),
            (0.75, 79, 0.5),
            (1.5, 76, 0.5),
            (2, 77, 0.5),
            (2.75, 79, 0.75),
            (3.5, 81, 0.5),
        ],
        [(0.5, 79, 0.5), (1, 76, 0.5), (1.75, 72, 0.75), (3, 74, 0.5), (3.5, 76, 0.5)],
        [
            (0, 77, 0.5),
            (0.75, 77, 0.5),
            (1.5, 74, 0.5),
            (2, 76, 0.5),
            (2.75, 77, 0.75),
            (3.5, 79, 0.5),
        ],
        [(0.5, 77, 0.5), (1, 74, 0.5), (1.75, 71, 0.5), (2.5, 72, 1.5)],
    ]
    chords = [(60, 64, 67), (57, 60, 64), (62, 65, 69), (55, 59, 65)]
    strum, low = [], []
    for bar in range(20):
        for beat in (0.5, 1.5, 2.5, 3.25, 3.5):
            strum += [(bar * 4 + beat, midi, 0.4) for midi in chords[bar % 4]]
        root = chords[bar % 4][0] - 12
        low += [(bar * 4, root, 1.0), (bar * 4 + 1.5, root + 7, 0.5), (bar * 4 + 3, root + 7, 0.7)]
    beat_s = 0.46
    lead = instruments.repeat(phrase * 5, 4)

    def roll(pitch_hz: float, held_s: float) -> dsp.Sound:
        note = instruments.steel_pan(pitch_hz, 0.9)
        count = 1 if held_s < 0.33 else int(held_s / 0.075)
        return dsp.sequence(
            held_s + 0.9, [(n * 0.075, note * (0.8 if n else 1.0)) for n in range(count)]
        )

    s.bed(
        "music",
        instruments.play(t, lead, beat_s, roll, rng),
        -20,
        [(0, 0), (7.3, 0), (7.4, 1), (t, 1)],
    )
    s.bed(
        "music",
        instruments.play(t, strum, beat_s, lambda f, d: instruments.steel_pan(f, 0.5), rng),
        -25,
    )
    s.bed(
        "music",
        instruments.play(t, low, beat_s, lambda f, d: instruments.steel_pan(f, 1.0), rng),
        -24,
    )
    iron = [
        (
            n * beat_s / 4,
            (1.0, 0.35, 0.6, 0.8)[n % 4] * things.hand_bell(1900 if n % 4 else 1620, 0.12),
        )
        for n in range(int(t / beat_s * 4))
    ]
    s.bed("music", dsp.unit(dsp.sequence(t, iron)), -33)
    kick = [(n * beat_s, instruments.drum(rng, 62, 0.3)) for n in range(int(t / beat_s))]
    s.bed("music", dsp.unit(dsp.sequence(t, kick)), -30)
    s.bed("animal", _whistling_frogs(s), -33, [(0, 1.3), (5, 0.8), (t - 4, 0.8), (t, 1.5)])


def _whistling_frogs(s: Scene) -> dsp.Sound:
    rng = s.rng
    chorus = [
        animals.scatter(
            rng,
            s.duration_s,
            lambda pitch=pitch: animals.peep(pitch, 0.16, 1.22),  # type: ignore[misc]
            0.62,
            spread=0.25,
            start_s=float(rng.uniform(0, 0.6)),
        )
        for pitch in (2150.0, 2290.0, 2440.0, 2600.0)
    ]
    return dsp.unit(sum(chorus, dsp.silence(s.duration_s)))


def plaza(s: Scene) -> None:
    """A Mexican street: fruit from a van's loudspeaker, market women, the camote whistle."""
    s.decay_s, s.wet = 0.6, 0.08
    rng, t = s.rng, s.duration_s
    man = Speaker("es-419+m2", 45, 165, 0.97)
    lady = Speaker("es-419+f2", 55, 160, 1.04)
    boy = Speaker("es-419+m7", 65, 175, 1.06)
    s.bed("environment", nature.city(rng, t), -37)
    talk = ["¿A cómo el kilo?", "Ahorita le doy su cambio.", "Pásele, güerita, sin compromiso."]
    s.bed("human", voice.babble(rng, t, [man, lady, boy], talk, 5), -38)
    for at_s, line in (
        (0.8, "¡Naranjas, jugosas naranjas! ¡Dos kilos por veinte pesos!"),
        (12.4, "¡Lleve la naranja dulce, el mango, la papaya!"),
        (22.0, "¡Naranjas, jugosas naranjas! ¡Dos kilos por veinte pesos!"),
    ):
        s.add("human", things.loudspeaker(voice.say(man, line, lift=0.3), 0.24, 2.2), at_s, -21)
    for at_s, who, line, lift, level in (
        (
            6.4,
            lady,
            "Pásele, marchanta, ¿qué va a llevar? Aquí está su aguacate, bien maduro.",
            0.2,
            -20,
        ),
        (16.4, boy, "¿Y a cómo los elotes, doña?", 0.2, -21),
        (18.9, lady, "A quince, mijo, con chile y limón.", 0.1, -21),
    ):
        s.add("human", voice.say(who, line, lift=lift), at_s, level)
    s.add(
        "things", dsp.reverb(rng, dsp.far(things.steam_whistle(rng, 5.5), 90), 1.5, 0.4), 9.8, -25
    )
    van = things.engine(rng, t, [(0, 26), (12, 24), (13, 36), (t, 30)], 130)
    s.bed("things", van, -36, [(0, 0.6), (12, 0.7), (16, 1), (t, 0.4)])
    for at_s in (5.8, 15.9, 21.4):
        s.add("animal", dsp.far(animals.bark(rng, 380), 50), at_s, -30)
        s.add("animal", dsp.far(animals.bark(rng, 380), 50), at_s + 0.35, -31)
    s.bed("animal", animals.scatter(rng, t, lambda: _grackle(s), 5.5, start_s=3.2), -33)


def _grackle(s: Scene) -> dsp.Sound:
    """Great-tailed grackle: a rusty gate, then a rising slide."""
    rattle = things.creak(s.rng, 0.6, 160)
    slide = animals.whistle([(0, 1600), (0.5, 4300)], 60, 0.03, 0.3)
    return dsp.sequence(1.5, [(0, 0.6 * rattle), (0.75, slide)])


def arctic_quay(s: Scene) -> None:
    """Greenlandic voices on a cold quay: wind, ravens, sled dogs that howl together."""
    s.wet = 0.03
    rng, t = s.rng, s.duration_s
    man = Speaker("kl+m3", 35, 150, 0.96)
    young = Speaker("kl+m7", 50, 160, 1.0)
    woman = Speaker("kl+f2", 55, 155, 1.05)
    s.bed("nature", nature.wind(rng, t, 520, 0.9), -34)
    s.bed("nature", nature.lapping(rng, t), -38)
    for at_s, who, line, lift, level in (
        (1.2, young, "Kumoorn! Qanoq ippit?", 0.4, -20),
        (3.9, man, "Ajunngilanga, qujanaq. Ullumi anorlerpoq.", 0.0, -20),
        (9.2, woman, "Aalisartut tikipput. Aalisakkat nutaat pisiarinerpigit?", 0.3, -20),
        (14.4, man, "Aap, marluk. Sila nillerpoq ullumi.", 0.0, -20),
        (20.6, young, "Qimmit nillerput! Takukkit!", 0.5, -20),
        (24.4, woman, "Takuss, aqagu takuss!", 0.3, -21),
    ):
        s.add("human", voice.say(who, line, lift=lift), at_s, level)
    for at_s in (7.0, 13.2, 19.0, 23.6):
        s.add("animal", animals.raven(rng), at_s, -27)
        s.add("animal", animals.raven(rng), at_s + 0.65, -28)
    for at_s in (6.6, 7.0, 17.4, 17.9, 18.4, 26.0):
        pitch = float(rng.uniform(360, 520))
        s.add("animal", dsp.far(animals.howl(rng, pitch), 90), at_s, -28)
    s.add(
        "things",
        things.engine(rng, 8, [(0, 30), (4, 52), (8, 58)], 150)
        * dsp.course([(0, 0), (4, 1), (8, 0)], 8),
        10.4,
        -33,
    )
    s.bed("things", things.creak(rng, t, 55), -42)


PLACES = (
    Place(
        "galesburg crossing",
        40.9445,
        -90.364,
        "A freight train at the crossing",
        "Modelled air horns in a five-note chord sound long, long, short, long at a crossing bell;"
        " a diesel and many cars over joints; synthetic katydids.",
        30,
        freight_train,
    ),
    Place(
        "port of spain pan yard",
        10.669,
        -61.513,
        "Practice in the pan yard",
        "Modelled steel pans and irons play a calypso of our own while synthetic frogs whistle.",
        29,
        steel_band,
    ),
    Place(
        "coyoacan street",
        19.3499,
        -99.162,
        "Oranges from the loudspeaker",
        "Computer voices sell fruit in Mexican Spanish, one through a synthetic loudspeaker; a"
        " steam whistle that sinks, an engine, dogs and a grackle.",
        28,
        plaza,
    ),
    Place(
        "nuuk quay",
        64.177,
        -51.744,
        "Wind and sled dogs on the quay",
        "Computer voices in Greenlandic over synthetic wind and water; ravens and sled dogs,"
        " modelled, answer each other.",
        28,
        arctic_quay,
    ),
)
