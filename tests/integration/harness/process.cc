#include "tests/integration/harness/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <vector>

#include "absl/strings/str_split.h"
#include "glog/logging.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/text_file.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

void Redirect(const std::string& path, int fd) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(file, fd);
  close(file);
}

[[noreturn]] void Become(const ProcessOptions& options) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const auto& [name, value] : options.environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  const bool has_files = options.terminal.empty();
  Redirect(has_files ? options.output_path + ".out" : options.terminal,
           STDOUT_FILENO);
  Redirect(has_files ? options.output_path + ".err" : options.terminal,
           STDERR_FILENO);
  std::vector<std::string> command = options.command;
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

struct ProcessState {
  std::string program;
  char state = 'Z';
  pid_t session = -1;
};

// Of /proc/<pid>/stat, whose second field is the program's name in parentheses,
// which may hold anything.
ProcessState StateOf(pid_t pid) {
  const std::string stat = ReadText("/proc/" + std::to_string(pid) + "/stat");
  const size_t begin = stat.find('(');
  const size_t end = stat.rfind(") ");
  if (end == std::string::npos) return {};
  // State, parent, group, session.
  const std::vector<std::string> fields =
      absl::StrSplit(stat.substr(end + 2), ' ');
  return {stat.substr(begin + 1, end - begin - 1), fields[0][0],
          std::stoi(fields[3])};
}

std::vector<pid_t> SessionOf(pid_t leader) {
  std::vector<pid_t> members;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    std::from_chars(name.data(), name.data() + name.size(), pid);
    if (pid == 0) continue;
    const ProcessState state = StateOf(pid);
    const bool is_dead = state.state == 'Z' || state.state == 'X';
    // A sanitizer starts it, and it ends a moment after the program that it
    // serves.
    const bool is_of_sanitizer = state.program == "llvm-symbolizer";
    if (state.session == leader && !is_dead && !is_of_sanitizer) {
      members.push_back(pid);
    }
  }
  return members;
}

}  // namespace

Process::Process(const ProcessOptions& options)
    : pid_(fork()), output_path_(options.output_path) {
  if (pid_ == 0) Become(options);
  CHECK_GT(pid_, 0) << "cannot fork";
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_path_(std::move(other.output_path_)),
      exit_code_(other.exit_code_) {}

Process::~Process() {
  if (pid_ < 0) return;
  for (const pid_t member : Session()) kill(member, SIGKILL);
  Signal(SIGKILL);
  if (!exit_code_) waitpid(pid_, nullptr, 0);
}

std::optional<int> Process::Wait(absl::Duration timeout) {
  WaitUntil(timeout, [this] {
    int status = 0;
    if (!exit_code_ && waitpid(pid_, &status, WNOHANG) == pid_) {
      exit_code_ =
          WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return exit_code_.has_value();
  });
  return exit_code_;
}

void Process::Signal(int signal) const {
  if (!exit_code_) kill(pid_, signal);
}

std::string Process::Output() const { return ReadText(output_path_ + ".out"); }

std::string Process::Errors() const { return ReadText(output_path_ + ".err"); }

std::vector<pid_t> Process::Session() const { return SessionOf(pid_); }

pid_t FindProcess(const std::vector<pid_t>& session, const std::string& program,
                  const std::string& argument) {
  for (const pid_t pid : session) {
    const std::vector<std::string> words = absl::StrSplit(
        ReadText("/proc/" + std::to_string(pid) + "/cmdline"), '\0');
    const bool runs_program =
        std::filesystem::path(words[0]).filename() == program;
    if (runs_program &&
        std::find(words.begin(), words.end(), argument) != words.end()) {
      return pid;
    }
  }
  return -1;
}

void ExpectExit(Process& process, int code) {
  EXPECT_EQ(process.Wait(kJobLimit), code) << process.Errors();
}

}  // namespace paceline
