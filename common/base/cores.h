// The number of cores that this process may use.
#ifndef PACELINE_COMMON_BASE_CORES_H_
#define PACELINE_COMMON_BASE_CORES_H_

#include <string>

namespace paceline {

// At least 1: the cores in the calling thread's affinity mask, limited by the
// quota of the container's control group. With more compute threads than cores,
// all threads would wait for those that have no core.
int UsableCores();

// The limit in `cpu_max`, the content of a control group's file of that name:
// "200000 100000" means 2 cores; fractions are rounded up. 0: no limit.
int CoresOfQuota(const std::string& cpu_max);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_CORES_H_
