"""Four scenes in Europe."""

from __future__ import annotations

from scripts.demo_pack import animals, dsp, instruments, nature, things, voice
from scripts.demo_pack.scene import Place, Scene
from scripts.demo_pack.voice import Speaker


def change_ringing(s: Scene) -> None:
    """Eight bells: rounds, then plain hunt, the English way; rain, rooks and jackdaws."""
    s.decay_s, s.wet = 1.4, 0.14
    rng, t = s.rng, s.duration_s
    semitones = [12, 11, 9, 7, 5, 4, 2, 0]
    bells = [things.church_bell(370 * 2 ** (n / 12), 4.5) for n in semitones]
    rows = [list(range(8))] * 2 + plain_hunt(8)
    strokes = []
    at_s = 0.8
    for number, row in enumerate(rows):
        for bell in row:
            strokes.append((at_s + float(rng.normal(0, 0.008)), bells[bell]))
            at_s += 0.235
        at_s += 0.235 if number % 2 else 0.0
    s.bed("things", dsp.far(dsp.unit(dsp.sequence(t, strokes)), 40), -20)
    s.bed("nature", nature.rain(rng, t, 0.35), -33, [(0, 0.6), (12, 1), (t, 0.5)])
    s.bed(
        "animal", animals.scatter(rng, t, lambda: animals.caw(rng, 330, 0.36), 2.3, spread=0.8), -31
    )
    s.bed(
        "animal", animals.scatter(rng, t, lambda: animals.caw(rng, 880, 0.14), 3.1, spread=0.9), -34
    )


def plain_hunt(bells: int) -> list[list[int]]:
    """Rows of plain hunt: swap all pairs, then the inner pairs, by turns, back to rounds."""
    row = list(range(bells))
    rows = []
    for number in range(2 * bells):
        for left in range(number % 2, bells - 1, 2):
            row[left], row[left + 1] = row[left + 1], row[left]
        rows.append(row.copy())
    return rows


def main_station(s: Scene) -> None:
    """A Polish station hall: gong, announcement, a slow train on joints, footsteps."""
    s.decay_s, s.wet = 2.2, 0.2
    rng, t = s.rng, s.duration_s
    lady = Speaker("pl+f4", 48, 150, 1.04)
    men = [Speaker("pl+m2", 45, 165, 0.98), Speaker("pl+f2", 60, 170, 1.06)]
    s.bed("environment", nature.city(rng, t), -41)
    lines = ["Gdzie masz bilety?", "Spóźnimy się na pociąg.", "Poczekaj, kupię jeszcze kawę."]
    s.bed("human", voice.babble(rng, t, men, lines, 4), -39)
    s.add("things", things.tones([659, 523, 392], 0.55, 1.6), 0.9, -26)
    for at_s, line in (
        (3.4, "Uwaga. Pociąg osobowy, planowy odjazd o godzinie ósmej piętnaście,"),
        (9.2, "odjedzie z toru drugiego, przy peronie trzecim."),
        (12.9, "Prosimy zachować ostrożność i nie zbliżać się do krawędzi peronu."),
    ):
        s.add("human", things.loudspeaker(voice.say(lady, line), 0.21), at_s, -20)
    s.bed("things", things.steps(rng, t, 0.5), -37)
    pace = [(0, 0.0), (2, 0.25), (6, 0.7), (12, 1.1), (14, 1.2)]
    train = things.rolling(rng, 14, 0.13, pace)
    s.add("things", train * dsp.course([(0, 0.7), (8, 1), (14, 0.5)], 14), 15.2, -26)
    s.add("things", things.chord_horn(0.7, [370.0, 660.0]), 14.8, -29)
    s.add("human", voice.say(men[0], lines[1], lift=0.2), 18.0, -22)
    s.add("human", voice.say(men[1], "To biegnijmy, peron trzeci!", lift=0.4), 20.4, -22)
    s.add("things", things.squeal(rng, 2.6, 1800), 23.0, -36)


def metro_musette(s: Scene) -> None:
    """A musette waltz by a modelled accordion in a tiled passage; a metro train leaves."""
    s.decay_s, s.wet = 1.5, 0.22
    rng, t = s.rng, s.duration_s
    melody: list[instruments.Notes] = [
        [(0, 76, 1), (1, 75, 0.5), (1.5, 76, 0.5), (2, 81, 1)],
        [(0, 80, 1.5), (1.5, 76, 0.5), (2, 74, 1)],
        [(0, 72, 1), (1, 71, 0.5), (1.5, 72, 0.5), (2, 76, 1)],
        [(0, 69, 2.5)],
        [(0, 74, 1), (1, 77, 0.5), (1.5, 76, 0.5), (2, 74, 1)],
        [(0, 72, 0.5), (0.5, 74, 0.5), (1, 76, 1), (2, 81, 1)],
        [(0, 83, 0.5), (0.5, 81, 0.5), (1, 80, 0.5), (1.5, 76, 0.5), (2, 71, 0.5), (2.5, 74, 0.5)],
        [(0, 69, 2.5)],
    ]
    chords = [
        (45, 60, 64),
        (40, 59, 62),
        (45, 60, 64),
        (45, 60, 64),
        (50, 62, 65),
        (45, 60, 64),
        (40, 59, 62),
        (45, 60, 64),
    ]
    left = [
        [(0, a, 0.8), (1, b, 0.35), (1, c, 0.35), (2, b, 0.35), (2, c, 0.35)] for a, b, c in chords
    ]
    beat_s = 0.315
    right_notes = instruments.repeat(melody * 4, 3)
    left_notes = instruments.repeat(left * 4, 3)
    tune = instruments.play(
        t, right_notes, beat_s, lambda f, d: instruments.reeds(f, d, (-14, 0, 15)), rng
    )
    bass = instruments.play(
        t, left_notes, beat_s, lambda f, d: instruments.reeds(f, d, (0, 1200), 6), rng
    )
    away = [(0.0, 0.9), (9, 1.0), (14, 0.75), (t, 1.0)]
    s.bed("music", tune, -21, away)
    s.bed("music", bass, -26, away)
    s.bed("environment", nature.city(rng, t), -41)
    s.add("things", things.buzzer(1.5, 455), 8.6, -29)
    s.add("things", things.sliding_door(rng), 9.8, -25)
    s.add("things", things.traction(rng, 11, 55, 620), 11.2, -27)
    wheels = things.rolling(rng, 11, 0.09, [(0, 0.1), (3, 0.7), (8, 1.8), (11, 2)])
    s.add("things", dsp.fades(wheels, 0.2, 4.5), 11.4, -29)
    s.bed("things", things.clinks(rng, t, 0.35), -36)


def island_cafe(s: Scene) -> None:
    """Greek fishermen over coffee: quay water, cicadas, goat bells, a radio with bouzouki."""
    s.wet = 0.04
    rng, t = s.rng, s.duration_s
    old = Speaker("el+m3", 30, 150, 0.95)
    friend = Speaker("el+m7", 50, 165, 0.99)
    wife = Speaker("el+f2", 55, 170, 1.05)
    s.bed("nature", nature.lapping(rng, t), -35)
    s.bed(
        "animal",
        animals.cicada(
            rng,
            t,
            5200,
            88,
            [(0, 0.8), (6, 1), (7, 0.3), (9, 1), (20, 0.9), (21, 0.2), (23, 1), (t, 1)],
        ),
        -38,
    )
    for at_s, who, line, lift, level in (
        (1.0, friend, "Καλημέρα, Γιάννη! Τι κάνεις;", 0.4, -20),
        (3.9, old, "Καλά, δόξα τω Θεώ. Έλα, κάτσε να πιούμε έναν καφέ.", 0.0, -20),
        (9.0, wife, "Πόσο κάνουν σήμερα τα καλαμάρια;", 0.3, -21),
        (12.4, old, "Δώδεκα ευρώ το κιλό. Φρέσκα, από τη νύχτα.", 0.1, -20),
        (17.2, friend, "Η θάλασσα είναι ήσυχη, αλλά το βράδυ θα φυσήξει.", 0.0, -20),
        (22.2, wife, "Άντε, γεια σας! Τα λέμε το απόγευμα.", 0.3, -22),
    ):
        s.add("human", voice.say(who, line, lift=lift), at_s, level)
    tune = [
        (0, 62, 1.5),
        (1.5, 63, 0.5),
        (2, 66, 1),
        (3, 67, 1),
        (4, 69, 2),
        (6, 67, 0.5),
        (6.5, 66, 0.5),
        (7, 63, 1),
    ]
    tune += [
        (8, 66, 1),
        (9, 63, 1),
        (10, 62, 2),
        (12, 69, 1),
        (13, 70, 0.5),
        (13.5, 69, 0.5),
        (14, 67, 1),
        (15, 66, 1),
    ]
    notes = [(bar * 16 + beat, midi, beats) for bar in range(4) for beat, midi, beats in tune]
    bouzouki = instruments.play(t, notes, 0.42, lambda f, d: instruments.tremolo(rng, f, d), rng)
    s.bed("music", things.radio(rng, bouzouki), -35)
    bells = animals.scatter(
        rng, t, lambda: things.hand_bell(float(rng.choice([610, 730, 905])), 0.7), 0.8, spread=0.9
    )
    s.bed("things", dsp.far(bells, 60), -37)
    for at_s in (7.6, 15.8, 24.9):
        s.add("animal", dsp.far(animals.goat(rng), 60), at_s, -32)
    s.bed("things", things.clinks(rng, t, 0.7, 2800), -36)


PLACES = (
    Place(
        "wells bells",
        51.2102,
        -2.6437,
        "Eight bells on a wet morning",
        "Modelled church bells ring rounds and then plain hunt on eight; synthetic rain, rooks and"
        " jackdaws.",
        32,
        change_ringing,
    ),
    Place(
        "krakow station",
        50.0677,
        19.9476,
        "The stopping train from track two",
        "A computer voice announces a train in Polish in a reverberant hall; travellers, steps and"
        " a modelled train that pulls out over joints.",
        29,
        main_station,
    ),
    Place(
        "paris metro",
        48.8566,
        2.3522,
        "A waltz in the underground",
        "A modelled accordion with three detuned reeds plays a waltz of our own in a tiled passage"
        " while a synthetic metro train shuts its doors and leaves.",
        28,
        metro_musette,
    ),
    Place(
        "naxos cafe",
        37.106,
        25.3735,
        "Coffee at the fishing harbour",
        "Computer voices in Greek over synthetic quay water, cicadas and goat bells; a radio plays"
        " a modelled bouzouki, a tune of our own.",
        28,
        island_cafe,
    ),
)
