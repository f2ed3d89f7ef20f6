// How many OpenMP threads tests may use.
#ifndef PACELINE_TESTS_SANITIZERS_OPENMP_THREADS_H_
#define PACELINE_TESTS_SANITIZERS_OPENMP_THREADS_H_

namespace paceline {

// The thread sanitizer does not see how Debian's libgomp orders its threads,
// and takes what they share for races.
#ifdef __SANITIZE_THREAD__
inline constexpr int kOpenMpThreads = 1;
#else
inline constexpr int kOpenMpThreads = 2;
#endif

}  // namespace paceline

#endif  // PACELINE_TESTS_SANITIZERS_OPENMP_THREADS_H_
