// How the threads of OpenMP wait for work: environment variables that libgomp
// reads before main starts.
//
// Threads that wait sleep, since there may be more processes than cores, where
// threads that spin without end take 100 times the processor time. They spin
// 2000 times first, because the small operations of a recurrent layer take less
// than waking a thread does. How long that is depends on the processor: about
// 0.1 ms on the Intel Xeon of the figures (tests/benchmark/README.md).
#ifndef PACELINE_COMMON_PROCESS_OPENMP_WAITS_H_
#define PACELINE_COMMON_PROCESS_OPENMP_WAITS_H_

namespace paceline {

struct EnvironmentVariable {
  const char* name;
  const char* value;
};

inline constexpr EnvironmentVariable kOpenMpWaits[] = {
    {"OMP_WAIT_POLICY", "PASSIVE"}, {"GOMP_SPINCOUNT", "2000"}};

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_OPENMP_WAITS_H_
