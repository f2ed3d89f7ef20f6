// Number of OpenMP threads in tests.
#ifndef PACELINE_TESTS_SANITIZERS_OPENMP_THREADS_H_
#define PACELINE_TESTS_SANITIZERS_OPENMP_THREADS_H_

namespace paceline {

// One under the thread sanitizer: it does not see how Debian's libgomp
// synchronises threads, and reports false races.
#ifdef __SANITIZE_THREAD__
inline constexpr int kOpenMpThreads = 1;
#else
inline constexpr int kOpenMpThreads = 2;
#endif

}  // namespace paceline

#endif  // PACELINE_TESTS_SANITIZERS_OPENMP_THREADS_H_
