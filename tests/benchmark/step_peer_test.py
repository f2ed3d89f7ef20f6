"""Peers are asked for steps, and say why they gave none."""

import sys
import time
import unittest

import step_peer

# A step takes as many seconds as the argument says.
SCRIPT = """
import sys
print("a library's word")
for line in sys.stdin:
    if line == "13\\n":
        sys.exit("no thirteenth step")
    if line == "99\\n":
        import time; time.sleep(60)
    print('{"seconds": %g}' % (float(sys.argv[1]) * int(line)), flush=True)
"""


def peer(seconds):
    return step_peer.StepPeer([sys.executable, "-c", SCRIPT, str(seconds)])


class StepPeerTest(unittest.TestCase):

    def test_answers(self):
        with peer(0.5) as one:
            self.assertEqual(one.run(4, 30), 2)
            self.assertEqual(one.run(6, 30), 3)
            self.assertTrue(one.is_running())

    def test_says_why_it_ended(self):
        with peer(1) as one:
            with self.assertRaisesRegex(step_peer.PeerError, "exit code 1\nno thirteenth step"):
                one.run(13, 30)
            self.assertFalse(one.is_running())
            with self.assertRaisesRegex(step_peer.PeerError, "no thirteenth step"):
                one.run(1, 30)

    def test_waits_no_longer_than_it_may(self):
        start = time.monotonic()
        with peer(1) as one:
            with self.assertRaisesRegex(step_peer.PeerError, "no answer in 1 s"):
                one.run(99, 1)
        self.assertLess(time.monotonic() - start, 20)

    def test_pairs_are_interleaved(self):
        with peer(1) as one, peer(2) as two:
            self.assertEqual(
                step_peer.pairs_of({"a": one, "b": two}, {"a": 10, "b": 20}, 3, 30),
                {"a": [10, 10, 10], "b": [40, 40, 40]})

    def test_pairs_name_the_peer_that_gave_none(self):
        with peer(1) as one, peer(2) as two:
            with self.assertRaisesRegex(step_peer.PeerError, "b: exit code 1"):
                step_peer.pairs_of({"a": one, "b": two}, {"a": 1, "b": 13}, 1, 30)

    def test_fewer_pairs_will_do_when_the_time_is_over(self):
        class Slow:
            def __init__(self):
                self.runs = 0

            def run(self, _, timeout):
                self.runs += 1
                if self.runs > 5:
                    raise step_peer.NoAnswer(f"no answer in {timeout:.0f} s")
                return self.runs

        def pairs(at_least):
            return step_peer.pairs_of({"a": peer_a, "b": Slow()}, {"a": 1, "b": 1}, 7, 30, at_least)

        with peer(1) as peer_a:
            self.assertEqual(pairs(at_least=2), {"a": [1, 1], "b": [2, 4]})
            with self.assertRaisesRegex(step_peer.NoAnswer, "b: no answer"):
                pairs(at_least=3)
            peer_a.kill()
            with self.assertRaises(step_peer.PeerError):
                pairs(at_least=0)


if __name__ == "__main__":
    unittest.main()
