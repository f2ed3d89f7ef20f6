// The log of a process.
#ifndef PACELINE_COMMON_PROCESS_LOGGING_H_
#define PACELINE_COMMON_PROCESS_LOGGING_H_

namespace paceline {

// Sends glog's messages to stderr. Call once, first thing in main. `quiet`
// leaves warnings and errors only.
void StartLogging(const char* program, bool quiet);

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_LOGGING_H_
