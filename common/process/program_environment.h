// The environment variables that a user's program gets.
#ifndef PACELINE_COMMON_PROCESS_PROGRAM_ENVIRONMENT_H_
#define PACELINE_COMMON_PROCESS_PROGRAM_ENVIRONMENT_H_

#include <string>
#include <vector>

namespace paceline {

// All variables of `environment`, which is `environ` in main.cc, as
// "NAME=value": for a program that the user who started this process has
// chosen.
std::vector<std::string> WholeEnvironment(const char* const* environment);

// Those of them that have no secrets of who started this process, for a program
// that somebody else may have chosen: PATH, HOME, USER, TMPDIR, TZ, LANG, LC_*,
// LD_LIBRARY_PATH, CUDA_VISIBLE_DEVICES, PYTHON*, VIRTUAL_ENV and
// PACELINE_COORDINATOR. Paceline's other variables name secrets.
std::vector<std::string> SafeEnvironment(const char* const* environment);

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_PROGRAM_ENVIRONMENT_H_
