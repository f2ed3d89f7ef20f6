#include "coordinator/cli/completion.h"

#include <glog/logging.h>

#include <utility>

#include "coordinator/cli/completion/shells.h"

namespace paceline {
namespace {

constexpr std::pair<const char*, ShellScript*> kScripts[] = {
    {"bash", BashScript}, {"fish", FishScript}, {"zsh", ZshScript}};

}  // namespace

std::vector<std::string> CompletionShells() {
  std::vector<std::string> shells;
  for (const auto& [shell, script] : kScripts) shells.push_back(shell);
  return shells;
}

std::string CompletionScript(const std::string& shell,
                             const std::vector<Command>& commands) {
  for (const auto& [name, script] : kScripts) {
    if (shell == name) return script(commands);
  }
  LOG(FATAL) << shell;
}

}  // namespace paceline
