// How many files and connections a process may have open.
#ifndef PACELINE_COMMON_PROCESS_DESCRIPTOR_LIMIT_H_
#define PACELINE_COMMON_PROCESS_DESCRIPTOR_LIMIT_H_

namespace paceline {

// Raises this process's soft limit of open descriptors to its hard one: shells
// start programs with 1,024, which strangers' connections could use up.
// Children inherit it. Where the system refuses, the limit stays.
void RaiseDescriptorLimit();

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_DESCRIPTOR_LIMIT_H_
