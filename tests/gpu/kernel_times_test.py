"""What ncu writes, and the table of it."""

import unittest

import kernel_times

LOG = """==PROF== Connected to process 7
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","void <unnamed>::Run<paceline::cuda::MaxPool>(T1, long)","gpu__time_duration.sum","us","1,500"
"1","void <unnamed>::Run<paceline::cuda::MaxPool>(T1, long)","gpu__time_duration.sum","ms","0.5"
"2","sm90_gemm","gpu__time_duration.sum","ns","6000000"
"""


class KernelTimesTest(unittest.TestCase):

    def test_launches_are_sorted_by_kernel(self):
        times = kernel_times.of_log(LOG.splitlines())
        self.assertEqual(set(times), {"MaxPool", "sm90_gemm"})
        for measured, expected in zip(times["MaxPool"], (0.0015, 0.0005), strict=True):
            self.assertAlmostEqual(measured, expected)

    def test_the_table_is_of_one_step(self):
        lines = kernel_times.table(kernel_times.of_log(LOG.splitlines()), steps=2)
        self.assertEqual(lines[0], "2 kernels, 4.00 ms a step in all")
        self.assertEqual(lines[2].split(), ["3.000", "75.0%", "0.5", "sm90_gemm"])
        self.assertEqual(lines[3].split(), ["1.000", "25.0%", "1.0", "MaxPool"])

    def test_a_log_of_no_kernel_gives_none(self):
        self.assertEqual(kernel_times.of_log(["==ERROR== no device"]), {})


if __name__ == "__main__":
    unittest.main()
