// The options --tls-cert, --tls-key and --tls-ca of every program.
#ifndef PACELINE_COMMON_TASK_TLS_OPTIONS_H_
#define PACELINE_COMMON_TASK_TLS_OPTIONS_H_

#include <string>
#include <vector>

#include "common/tls/tls_files.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

// Adds the options, which set `files`.
void AddTlsOptions(CLI::App& app, TlsFiles& files);

// The same files as arguments of a task's process; none if there is no TLS.
std::vector<std::string> TlsArguments(const TlsFiles& files);

}  // namespace paceline

#endif  // PACELINE_COMMON_TASK_TLS_OPTIONS_H_
