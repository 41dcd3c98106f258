"""Four scenes in Asia."""

from __future__ import annotations

from scripts.demo_pack import animals, dsp, instruments, nature, things, voice
from scripts.demo_pack.scene import Place, Scene
from scripts.demo_pack.voice import Speaker


def platform(s: Scene) -> None:
    """A Japanese platform: melody, announcement, a train over joints, the door chime."""
    s.decay_s, s.wet = 1.3, 0.16
    rng, t = s.rng, s.duration_s
    woman = Speaker("ja+f2", 60, 165, 1.06)
    man = Speaker("ja+m3", 40, 150, 0.98)
    s.bed("environment", nature.city(rng, t), -40)
    s.bed("things", things.steps(rng, t, 0.52), -38)
    melody = [79, 76, 72, 76, 79, 84, 83, 79, 81, 77, 74, 77, 76]
    chime = things.tones([instruments.hertz(m) for m in melody], 0.24, 1.3)
    s.add("music", things.loudspeaker(chime, 0.11, 0.4), 0.8, -25)
    first = "まもなく、さんばんせんに、とっきゅうれっしゃが、まいります。"
    second = "あぶないですから、きいろいせんの、うちがわまで、おさがりください。"
    s.add("human", things.loudspeaker(voice.say(woman, first), 0.14), 4.9, -20)
    s.add("human", things.loudspeaker(voice.say(woman, second), 0.14), 10.2, -20)
    pace = [(0, 1.6), (4, 1.5), (8, 0.9), (11, 0.3), (13, 0.0), (20, 0.0)]
    train = things.rolling(rng, 14, 0.11, pace)
    swell = dsp.course([(0, 0), (3.5, 0.5), (5.5, 1), (14, 0.6)], 14)
    s.add("things", train * swell, 10.5, -26)
    s.add("things", things.squeal(rng, 3.2, 2350), 19.2, -35)
    s.add("things", things.air_brake(rng, 0.9), 23.2, -32)
    doors = things.tones([instruments.hertz(m) for m in (88, 84, 88, 84)], 0.36, 0.6)
    s.add("things", doors, 24.0, -27)
    s.add(
        "human",
        things.loudspeaker(voice.say(man, "ドアが、ひらきます。ごちゅうい、ください。"), 0.14),
        25.6,
        -21,
    )
    s.add("things", things.sliding_door(rng), 25.0, -30)


def gamelan(s: Scene) -> None:
    """A Balinese-like ensemble in pelog at night: paired bars that beat, kotekan, gong; frogs."""
    s.decay_s, s.wet = 0.9, 0.12
    rng, t = s.rng, s.duration_s
    scale = [61.0, 62.2, 63.7, 67.9, 69.0, 73.0, 74.2, 75.7]
    core = [0, 2, 4, 3, 1, 3, 2, 0, 4, 3, 1, 2, 3, 1, 2, 0]
    beat_s = 0.46
    bars = int(t / (beat_s * 16)) + 1
    slow = [(16.0 * b + n, scale[core[n]] - 12, 2.0) for b in range(bars) for n in range(16)]
    figure = [3, 2, 4, 3, 2, 4, 3, 4]
    fast = []
    for step in range(bars * 64):
        root = core[(step // 4) % 16]
        if step >= 32:
            fast.append((step / 4, scale[(figure[step % 8] + root) % 8] + 12, 0.5))
    s.bed(
        "music",
        instruments.play(t, slow, beat_s, lambda f, d: instruments.bar(f, 2.2, 6), rng, 0.006),
        -23,
    )
    s.bed(
        "music",
        instruments.play(t, fast, beat_s, lambda f, d: instruments.bar(f, 0.35, 8), rng, 0.004),
        -25,
    )
    kettle = [(n * beat_s, things.knock(rng, 690, 0.15)) for n in range(int(t / beat_s))]
    s.bed("music", dsp.unit(dsp.sequence(t, kettle)), -34)
    strokes = [(16 * beat_s * b, instruments.gong(66, 7)) for b in range(bars)]
    strokes += [(16 * beat_s * (b + 0.5), 0.5 * instruments.gong(132, 3)) for b in range(bars)]
    s.bed("music", dsp.unit(dsp.sequence(t, strokes)), -24)
    s.bed(
        "animal", animals.frogs(rng, t, [(640, 0.28, 1.1), (1180, 0.12, 0.8), (330, 0.4, 2.7)]), -34
    )
    s.bed("animal", animals.crickets(rng, t, 5200, 6), -41)
    gecko = [
        dsp.silence(0.1),
        animals.throat(rng, [(0, 900), (0.14, 700), (0.3, 520)], animals.CROW, rough=0.4),
    ]
    call = dsp.sequence(3.4, [(0.75 * n, gecko[1]) for n in range(4)])
    s.add("animal", call, 13.6, -30)


def ghat(s: Scene) -> None:
    """Steps to a river in India: tea, flowers and boats in Hindi; bells, scooters, horns."""
    s.decay_s, s.wet = 0.6, 0.08
    rng, t = s.rng, s.duration_s
    tea = Speaker("hi+m7", 55, 170, 1.0)
    boat = Speaker("hi+m3", 40, 165, 0.97)
    girl = Speaker("hi+f3", 65, 170, 1.1)
    lines = [
        "चाय गरम, गरम चाय!",
        "भैया, नाव चाहिए? घाट घुमा देंगे, सिर्फ़ सौ रुपये।",
        "ताज़े फूल ले लो, दस रुपये की माला!",
    ]
    s.bed("human", voice.babble(rng, t, [tea, boat, girl], lines, 6), -37)
    s.bed("nature", nature.lapping(rng, t), -37)
    for at_s, who, line, lift, level in (
        (1.0, tea, lines[0], 0.8, -20),
        (4.2, boat, lines[1], 0.1, -20),
        (9.6, girl, lines[2], 0.5, -21),
        (13.6, tea, lines[0], 0.9, -22),
        (16.4, boat, "अरे, रास्ता दीजिए, रास्ता दीजिए!", 0.6, -20),
        (20.0, girl, "दीदी, एक दीया भी ले लीजिए।", 0.2, -21),
        (24.4, tea, "अदरक वाली चाय, गरम चाय!", 0.8, -20),
    ):
        s.add("human", voice.shout(voice.say(who, line, lift=lift)), at_s, level)
    bells = [
        (n * 0.41 + float(rng.normal(0, 0.02)), things.hand_bell(1240, 0.8, 0.6)) for n in range(22)
    ]
    s.add("things", dsp.far(dsp.sequence(10, bells), 20), 6.5, -29)
    s.add("things", dsp.reverb(rng, things.church_bell(520, 4), 1.5, 0.3), 18.8, -29)
    scooter = things.engine(rng, 7, [(0, 32), (2, 48), (4, 44), (7, 36)], 260)
    s.add("things", scooter * dsp.course([(0, 0), (3, 1), (4, 0.9), (7, 0)], 7), 2.4, -31)
    s.add("things", scooter * dsp.course([(0, 0), (3, 1), (4, 0.9), (7, 0)], 7), 19.5, -31)
    for at_s in (4.9, 5.3, 12.6, 21.7, 22.0, 22.3):
        s.add("things", things.bulb_horn(), at_s, -28)
    s.bed(
        "animal", animals.scatter(rng, t, lambda: animals.caw(rng, 520, 0.22), 2.6, spread=0.9), -35
    )


def mountain_temple(s: Scene) -> None:
    """A Korean temple in summer: the great bell that beats, a moktak, min-min cicadas, a brook."""
    s.decay_s, s.wet = 1.6, 0.12
    rng, t = s.rng, s.duration_s
    for at_s in (0.6, 14.6):
        s.add("things", things.temple_bell(rng), at_s, -19)
    s.bed("nature", nature.stream(rng, t), -37)
    at_s, gap_s, wood = 6.0, 0.85, []
    while at_s < 14.0:
        wood.append((at_s, things.knock(rng, 545, 0.16)))
        at_s += gap_s
        gap_s = max(0.16, gap_s * 0.91)
    s.bed("things", dsp.unit(dsp.sequence(t, wood)), -27)
    for start, level in ((2.5, -29), (11.5, -33), (18.5, -28)):
        s.add("animal", animals.minmin(rng, 7.5), start, level)
    s.bed("animal", animals.cicada(rng, t, 6100, 62, [(0, 0.5), (9, 1), (17, 0.4), (t, 0.9)]), -42)
    s.bed("animal", animals.scatter(rng, t, lambda: animals.bulbul(rng, 4), 6, start_s=4), -36)


PLACES = (
    Place(
        "kanazawa platform",
        36.578,
        136.648,
        "An express comes in",
        "A computer voice announces a train in Japanese after a melody of our own; modelled wheels"
        " on joints, brakes and door chimes.",
        30,
        platform,
    ),
    Place(
        "ubud night",
        -8.5067,
        115.2625,
        "Bronze and frogs at night",
        "A modelled gamelan in pelog, its paired bars tuned apart, with gongs and interlocking"
        " parts of our own; synthetic frogs, crickets and a gecko.",
        29,
        gamelan,
    ),
    Place(
        "varanasi ghat",
        25.3069,
        83.0104,
        "Tea and flowers by the river",
        "Computer voices sell tea, flowers and boat rides in Hindi over synthetic water, temple"
        " bells, scooters and horns.",
        29,
        ghat,
    ),
    Place(
        "gyeongju temple",
        35.79,
        129.332,
        "The great bell in summer",
        "A modelled bronze bell with its slow beat, a wooden moktak that gathers speed, synthetic"
        " min-min cicadas and a brook.",
        30,
        mountain_temple,
    ),
)
