import numpy as np

from pose.synth.body import NAMED_BODIES, draw_body
from pose.synth.motion.limbs import standing


def test_drawn_bodies_are_people_and_differ():
    bodies = [draw_body(np.random.default_rng(seed)) for seed in range(200)]
    statures = np.array([body.stature for body in bodies])
    assert 1480 <= statures.min() < 1600 < 1800 < statures.max() <= 2000
    assert 60 < statures.std() < 130
    for body in bodies:
        assert 300 < body.trunk < 750
        assert body.trunk < body.trunk_marker_length < body.trunk + 80
        head = standing(body, 1).joint("head")[0, 2]
        assert abs(head - body.stature) < 12
    assert len({body.looseness for body in bodies}) == 200
    assert any(body.bust == 0 for body in bodies)
    assert any(body.bust > 0.3 for body in bodies)


def test_the_same_draw_is_the_same_body():
    first, again = (draw_body(np.random.default_rng(1)) for _ in range(2))
    assert first == again
    assert first not in NAMED_BODIES.values()
