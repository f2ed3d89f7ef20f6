#include "common/process/user_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/process/exec_pointers.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// How long to wait for a process that was killed. One of another user's, or one
// that waits for a disk, may stay.
constexpr absl::Duration kKillTimeout = absl::Seconds(2);

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

absl::StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// The standard input is a socket, which a program can close without a SIGPIPE
// in this process.
absl::StatusOr<Pipe> MakeInput() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a socket");
  }
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

void SetNonblocking(const FileDescriptor& fd) {
  PCHECK(fcntl(fd.get(), F_SETFL, O_NONBLOCK) == 0);
}

// In the child: makes only system calls, but for the search in PATH. Returns
// if the program cannot be executed.
void Become(char* const* argv, char* const* envp, pid_t parent, int in, int out,
            int error) {
  // A group of its own, which can be killed, and which Ctrl-C does not reach.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  execvpe(argv[0], argv, envp);
}

// Appends what can be read now. Returns false if there is too much.
bool Drain(const FileDescriptor& fd, std::string& text) {
  char buffer[4096];
  while (text.size() <= kMaxProgramOutput) {
    const ssize_t count = read(fd.get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(buffer, static_cast<size_t>(count));
  }
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<UserProgram>> UserProgram::Start(
    ProgramOptions options) {
  CHECK(!options.arguments.empty());
  ASSIGN_OR_RETURN(Pipe in, MakeInput());
  ASSIGN_OR_RETURN(Pipe out, MakePipe());
  ASSIGN_OR_RETURN(Pipe error, MakePipe());
  // Brings errno; closes as the program begins.
  ASSIGN_OR_RETURN(Pipe begun, MakePipe());
  const std::vector<char*> argv = ExecPointers(options.arguments);
  const std::vector<char*> envp = ExecPointers(options.environment);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    Become(argv.data(), envp.data(), parent, in.read.get(), out.write.get(),
           error.write.get());
    const int reason = errno;
    [[maybe_unused]] const ssize_t written =
        write(begun.write.get(), &reason, sizeof(reason));
    _exit(127);
  }
  if (pid < 0) return absl::ErrnoToStatus(errno, "cannot fork");
  // Both do so, since either may be first.
  setpgid(pid, pid);
  in.read = FileDescriptor();
  out.write = FileDescriptor();
  error.write = FileDescriptor();
  begun.write = FileDescriptor();
  SetNonblocking(in.write);
  SetNonblocking(out.read);
  SetNonblocking(error.read);
  std::unique_ptr<UserProgram> command(
      new UserProgram(std::move(options), pid, std::move(in.write),
                      std::move(out.read), std::move(error.read)));
  int reason = 0;
  if (read(begun.read.get(), &reason, sizeof(reason)) == sizeof(reason)) {
    return absl::ErrnoToStatus(reason, "cannot be executed");
  }
  return command;
}

UserProgram::UserProgram(ProgramOptions options, pid_t pid, FileDescriptor in,
                         FileDescriptor out, FileDescriptor error)
    : options_(std::move(options)),
      deadline_(MonotonicNow() + options_.timeout),
      pid_(pid),
      in_(std::move(in)),
      out_fd_(std::move(out)),
      error_fd_(std::move(error)) {}

UserProgram::~UserProgram() {
  if (pid_ > 0) End();
}

void UserProgram::FeedInput() {
  while (in_.is_open()) {
    const ssize_t count =
        send(in_.get(), options_.input.data() + fed_,
             options_.input.size() - fed_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    // A program need not read its input.
    if (count > 0) fed_ += static_cast<size_t>(count);
    if (count < 0 || fed_ == options_.input.size()) in_ = FileDescriptor();
  }
}

std::optional<absl::StatusOr<ProgramOutput>> UserProgram::Poll() {
  CHECK_GT(pid_, 0) << "it has ended";
  FeedInput();
  // Before its output is read, so that all of it is read.
  siginfo_t info = {};
  const bool has_exited = waitid(P_PID, static_cast<id_t>(pid_), &info,
                                 WEXITED | WNOHANG | WNOWAIT) == 0 &&
                          info.si_pid == pid_;
  const bool fits =
      Drain(out_fd_, output_.out) && Drain(error_fd_, output_.error);
  if (!has_exited && fits && MonotonicNow() < deadline_) return std::nullopt;
  const int status = End();
  if (!fits) {
    return Failure(absl::StatusCode::kResourceExhausted,
                   absl::StrCat("it printed more than ", kMaxProgramOutput,
                                " bytes and was killed"));
  }
  if (!has_exited) {
    return Failure(absl::StatusCode::kDeadlineExceeded,
                   absl::StrFormat("it took more than %g s and was killed",
                                   absl::ToDoubleSeconds(options_.timeout)));
  }
  if (WIFSIGNALED(status)) {
    return Failure(absl::StatusCode::kFailedPrecondition,
                   absl::StrCat("signal ", WTERMSIG(status), " killed it"));
  }
  if (WEXITSTATUS(status) != 0) {
    return Failure(absl::StatusCode::kFailedPrecondition,
                   absl::StrCat("exit code ", WEXITSTATUS(status)));
  }
  return std::move(output_);
}

int UserProgram::End() {
  // The process itself stays, as a zombie at least, until it is reaped. So the
  // group is still its own.
  kill(-pid_, SIGKILL);
  // It may have left the group.
  kill(pid_, SIGKILL);
  int status = 0;
  const absl::Time deadline = MonotonicNow() + kKillTimeout;
  while (waitpid(pid_, &status, WNOHANG) != pid_) {
    if (MonotonicNow() > deadline) {
      LOG(WARNING) << "process " << pid_
                   << ", a program of the user's, does not end by SIGKILL";
      break;
    }
    absl::SleepFor(absl::Milliseconds(1));
  }
  pid_ = -1;
  return status;
}

absl::Status UserProgram::Failure(absl::StatusCode code,
                                  const std::string& what) const {
  // Programs say at the end why they fail.
  const absl::string_view said = absl::StripAsciiWhitespace(
      output_.error.empty() ? output_.out : output_.error);
  return {code, said.empty()
                    ? absl::StrCat(what, "; it said nothing")
                    : absl::StrCat(what, "; it said: ", PeerText(said))};
}

}  // namespace paceline
