// The processors that this process may use.
#ifndef PACELINE_COMMON_BASE_CORES_H_
#define PACELINE_COMMON_BASE_CORES_H_

#include <string>

namespace paceline {

// At least 1: those of the calling thread's affinity, and no more than the
// quota of the container's control group allows. A thread more than these would
// be waited for by all others.
int UsableCores();

// What `cpu_max`, the content of a control group's file of that name, allows:
// "200000 100000" is 2 cores, a part of one counts as one. 0: it sets no limit.
int CoresOfQuota(const std::string& cpu_max);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_CORES_H_
