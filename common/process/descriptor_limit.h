// The limit of open file descriptors.
#ifndef PACELINE_COMMON_PROCESS_DESCRIPTOR_LIMIT_H_
#define PACELINE_COMMON_PROCESS_DESCRIPTOR_LIMIT_H_

namespace paceline {

// Raises this process's soft limit of open descriptors to its hard limit.
// Shells start programs with 1,024, which connections of strangers could
// exhaust. Children inherit it. If the system refuses, the limit stays.
void RaiseDescriptorLimit();

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_DESCRIPTOR_LIMIT_H_
