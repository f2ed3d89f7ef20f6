"""Expected values that differ are found, and digits that may differ are not."""

import unittest

from expected_file import differences, line_differences


def found(expected, made):
    return list(differences(expected, made))


class ExpectedFileTest(unittest.TestCase):
    def test_last_digits_may_differ(self):
        self.assertEqual(found({"a": [1.0, float("nan")]}, {"a": [1.00005, float("nan")]}), [])

    def test_numbers_that_differ_are_named(self):
        self.assertEqual(
            found({"models": [{"name": "dense", "output": [1.0, 2.0]}]},
                  {"models": [{"name": "dense", "output": [1.0, 2.1]}]}),
            [".models[dense].output[1]: 2.0 in the file, 2.1 made"])

    def test_lengths_and_keys_must_be_equal(self):
        self.assertEqual(found([1], [1, 2]), [": 1 entries in the file, 2 made"])
        self.assertEqual(found({"a": 1}, {"b": 1}),
                         [".a: is in the file only", ".b: is not in the file"])

    def test_a_number_is_no_text(self):
        self.assertEqual(found([1], ["1"]), ["[0]: 1 in the file, '1' made"])
        self.assertEqual(found([True], [1.5]), ["[0]: True in the file, 1.5 made"])

    def test_nan_is_no_number(self):
        self.assertEqual(len(found([1.0], [float("nan")])), 1)

    def test_lines_must_be_equal(self):
        self.assertEqual(list(line_differences("a\nb\n", "a\nb\n")), [])
        self.assertEqual(list(line_differences("a\n[1]\n", "a\n[1.0]\n")), [": -[1]", ": +[1.0]"])


if __name__ == "__main__":
    unittest.main()
