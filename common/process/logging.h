// Logging of a process.
#ifndef PACELINE_COMMON_PROCESS_LOGGING_H_
#define PACELINE_COMMON_PROCESS_LOGGING_H_

namespace paceline {

// Sends glog's messages to stderr. Call it once, first in main. `quiet`: only
// warnings and errors.
void StartLogging(const char* program, bool quiet);

// Ends the quiet.
void LogEverything();

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_LOGGING_H_
