#include "common/process/child.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file_descriptor.h"
#include "common/base/folder.h"
#include "common/base/status_macros.h"
#include "common/process/exec_pointers.h"

extern char** environ;

namespace paceline {
namespace {

// The environment of this process, as "NAME=value", with `added` replaced or
// appended.
std::vector<std::string> Environment(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const absl::string_view text = *entry;
    const absl::string_view name = text.substr(0, text.find('='));
    const bool replaced =
        std::any_of(added.begin(), added.end(),
                    [name](const auto& pair) { return pair.first == name; });
    if (!replaced) result.emplace_back(text);
  }
  for (const auto& [name, value] : added) {
    result.push_back(absl::StrCat(name, "=", value));
  }
  return result;
}

absl::StatusOr<FileDescriptor> CreateLog(const std::string& path) {
  const std::filesystem::path parts = path;
  ASSIGN_OR_RETURN(const Folder folder,
                   Folder::Open(parts.parent_path().string()));
  return folder.CreateFile(parts.filename().string());
}

// The limits of a child as the kernel takes them.
class KernelLimits {
 public:
  explicit KernelLimits(const ChildLimits& limits)
      : cgroup_procs_(limits.cgroup_procs),
        limits_cores_(!limits.cores.empty()),
        limits_data_(limits.data_bytes != 0) {
    CPU_ZERO(&cores_);
    for (const int core : limits.cores) CPU_SET(core, &cores_);
    PCHECK(getrlimit(RLIMIT_DATA, &data_) == 0);
    // Both limits, so that the child cannot lift them.
    data_.rlim_max = std::min<rlim_t>(data_.rlim_max, limits.data_bytes);
    data_.rlim_cur = data_.rlim_max;
  }

  // In the child: makes only system calls. Whether all of them hold.
  bool Apply() const {
    // "0" is the process that writes.
    if (cgroup_procs_ >= 0 && write(cgroup_procs_, "0", 1) != 1) return false;
    if (limits_cores_ && sched_setaffinity(0, sizeof(cores_), &cores_) != 0) {
      return false;
    }
    return !limits_data_ || setrlimit(RLIMIT_DATA, &data_) == 0;
  }

 private:
  const int cgroup_procs_;
  const bool limits_cores_;
  const bool limits_data_;
  cpu_set_t cores_;
  rlimit data_;
};

ChildUsage UsageOf(const rusage& usage) {
  const auto micros = [](const timeval& time) {
    return uint64_t{1'000'000} * static_cast<uint64_t>(time.tv_sec) +
           static_cast<uint64_t>(time.tv_usec);
  };
  return {micros(usage.ru_utime) + micros(usage.ru_stime),
          static_cast<uint64_t>(usage.ru_maxrss) << 10};
}

// In the child: `message` into its log.
[[noreturn]] void GiveUp(absl::string_view message) {
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, message.data(), message.size());
  _exit(127);
}

}  // namespace

absl::StatusOr<Child> Child::Spawn(const ChildOptions& options) {
  ASSIGN_OR_RETURN(const FileDescriptor log, CreateLog(options.log_path));
  int lifetime[2];
  if (pipe2(lifetime, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  // Write while this process still has the reading end open, too. Otherwise a
  // child that exits at once would cause a SIGPIPE in this process.
  const std::string line = absl::StrCat(options.line, "\n");
  PCHECK(write(lifetime[1], line.data(), line.size()) ==
         static_cast<ssize_t>(line.size()));
  // Allocate everything before fork, since afterwards the child may only make
  // system calls.
  std::vector<std::string> command = options.command;
  command.push_back(absl::StrCat("--lifetime_fd=", lifetime[0]));
  std::vector<std::string> environment = Environment(options.environment);
  const std::vector<char*> argv = ExecPointers(command);
  const std::vector<char*> envp = ExecPointers(environment);
  const char* const working_folder =
      options.working_folder.empty() ? nullptr : options.working_folder.c_str();
  const KernelLimits limits(options.limits);
  const pid_t parent = getpid();

  const pid_t pid = fork();
  if (pid == 0) {
    // A process group of its own, so that Ctrl-C reaches only the parent, which
    // ends its children in order.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(log.get(), STDOUT_FILENO);
    dup2(log.get(), STDERR_FILENO);
    fcntl(lifetime[0], F_SETFD, 0);
    if (!limits.Apply()) GiveUp("cannot put this task under its limits\n");
    if (working_folder == nullptr || chdir(working_folder) == 0) {
      execve(argv[0], argv.data(), envp.data());
    }
    GiveUp("cannot execute the program of this task in its folder\n");
  }
  const int fork_error = errno;
  close(lifetime[0]);
  if (pid < 0) {
    close(lifetime[1]);
    return absl::ErrnoToStatus(fork_error, "cannot fork");
  }
  return Child(pid, lifetime[1]);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      lifetime_fd_(std::exchange(other.lifetime_fd_, -1)),
      exit_code_(other.exit_code_),
      usage_(other.usage_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(lifetime_fd_, other.lifetime_fd_);
  std::swap(exit_code_, other.exit_code_);
  std::swap(usage_, other.usage_);
  return *this;
}

Child::~Child() {
  if (pid_ > 0 && !Poll().has_value()) {
    Kill(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (lifetime_fd_ >= 0) close(lifetime_fd_);
}

std::optional<int> Child::Poll() {
  if (exit_code_.has_value()) return exit_code_;
  int status = 0;
  rusage usage;
  const pid_t waited = wait4(pid_, &status, WNOHANG, &usage);
  if (waited == pid_) {
    usage_ = UsageOf(usage);
    exit_code_ =
        WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  } else if (waited < 0 && errno == ECHILD) {
    exit_code_ = kUnknownExitCode;
  }
  return exit_code_;
}

void Child::Kill(int signal) {
  if (!exit_code_.has_value()) kill(pid_, signal);
}

}  // namespace paceline
