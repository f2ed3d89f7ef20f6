#include "common/daemon/daemon_program.h"

#include <sys/stat.h>

#include <filesystem>
#include <memory>

#include "common/base/status_macros.h"
#include "common/daemon/daemon.h"
#include "common/process/interrupt.h"

namespace paceline {

absl::Status RunDaemonProgram(const DaemonFlags& flags,
                              const TaskProgram& program,
                              const std::string& version,
                              char* (*get)(const char* name),
                              const DataOptions& data) {
  // Jobs' files and logs are nobody else's business.
  umask(S_IRWXG | S_IRWXO);
  // Before threads start, which must not take signals.
  ASSIGN_OR_RETURN(const std::unique_ptr<Interrupt> interrupt,
                   Interrupt::Watch());
  DaemonPlace place;
  place.type = program.type();
  place.coordinator = program.coordinator();
  place.is_insecure = program.is_insecure();
  const char* const secret_file = get(kServiceSecretFileVariable);
  if (secret_file != nullptr) place.environment_secret_file = secret_file;
  place.tls_files = program.tls_files();
  place.data = data;
  place.version = version;
  place.program_folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  ASSIGN_OR_RETURN(const DaemonOptions options,
                   ResolveDaemonOptions(flags, place));
  return RunDaemon(options, [&] { return interrupt->Taken(); });
}

}  // namespace paceline
