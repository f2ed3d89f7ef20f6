#include "common/daemon/control_group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/errno_error.h"
#include "common/base/size_text.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// This process's own group, below the one in which it was started.
constexpr char kDaemonGroup[] = "/paceline-daemon";
// A task's group, before its number.
constexpr char kTaskGroup[] = "paceline-task-";
// A task gets its share of each such time.
constexpr uint64_t kPeriodMicros = 100'000;
// The least that the kernel takes.
constexpr uint64_t kMinQuotaMicros = 1'000;
// For killed processes to be gone, before their group can be removed.
constexpr int kRemoveTries = 50;
constexpr absl::Duration kRemoveInterval = absl::Milliseconds(2);

// "" if it cannot be read.
std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

absl::StatusOr<FileDescriptor> OpenToWrite(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return ErrnoError("cannot write", path);
  return file;
}

// One call, as the files of groups want it.
absl::Status WriteText(const std::string& path, absl::string_view text) {
  ASSIGN_OR_RETURN(const FileDescriptor file, OpenToWrite(path));
  if (write(file.get(), text.data(), text.size()) !=
      static_cast<ssize_t>(text.size())) {
    return ErrnoError(absl::StrCat("cannot write \"", text, "\" to"), path);
  }
  return absl::OkStatus();
}

// In place of one that is left over from an earlier process.
absl::Status MakeGroup(const std::string& folder) {
  rmdir(folder.c_str());
  if (mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return ErrnoError("cannot make", folder);
}

void RemoveGroup(const std::string& folder) {
  for (int i = 0; i < kRemoveTries; ++i) {
    if (rmdir(folder.c_str()) == 0 || errno != EBUSY) return;
    absl::SleepFor(kRemoveInterval);
  }
  LOG(WARNING) << "cannot remove " << folder << ", which has processes";
}

// Ends a task's group with all that is in it.
void EndGroup(const std::string& folder) {
  WriteText(folder + "/cgroup.kill", "1").IgnoreError();
  RemoveGroup(folder);
}

// Ends the groups of tasks that a daemon has left which was killed.
void EndLeftGroups(const std::string& parent) {
  std::error_code error;
  std::vector<std::string> left;
  std::filesystem::directory_iterator entry(parent, error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (absl::StartsWith(name, kTaskGroup)) left.push_back(entry->path());
  }
  if (error) {
    LOG(WARNING) << "cannot read " << parent << ": " << error.message()
                 << "; tasks that an earlier daemon has left may run on";
  }
  for (const std::string& folder : left) {
    LOG(WARNING) << "ending " << folder << ", which an earlier daemon has left";
    EndGroup(folder);
  }
}

// The number of a line "name number" of a file; 0 if there is none.
uint64_t CountOf(absl::string_view name, const std::string& text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    uint64_t count = 0;
    if (pair.first == name && absl::SimpleAtoi(pair.second, &count)) {
      return count;
    }
  }
  return 0;
}

// The group of this process in `own`, the content of /proc/self/cgroup: "" for
// the uppermost that it sees.
absl::StatusOr<std::string> OwnGroup(const std::string& own) {
  for (const absl::string_view line : absl::StrSplit(own, '\n')) {
    absl::string_view path = line;
    if (!absl::ConsumePrefix(&path, "0::/")) continue;
    if (absl::StartsWith(path, "..")) break;
    return path.empty() ? "" : absl::StrCat("/", path);
  }
  return absl::FailedPreconditionError(
      "this process has no control group (version 2) that it sees");
}

absl::Status CheckParent(const std::string& folder) {
  const std::string controllers = ReadText(folder + "/cgroup.controllers");
  const std::vector<absl::string_view> names =
      absl::StrSplit(controllers, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  for (const absl::string_view needed : {"cpu", "memory"}) {
    if (std::find(names.begin(), names.end(), needed) != names.end()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(folder, " lacks the controller ", needed));
  }
  const std::string procs = ReadText(folder + "/cgroup.procs");
  if (absl::StripAsciiWhitespace(procs) != absl::StrCat(getpid())) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder, " has other processes than this one"));
  }
  const std::string daemon = absl::StrCat(folder, kDaemonGroup);
  if (!absl::StripAsciiWhitespace(ReadText(daemon + "/cgroup.procs")).empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(daemon, " is another daemon's"));
  }
  return absl::OkStatus();
}

}  // namespace

ControlGroup::Kills ControlGroup::CountKills() const {
  const std::string events = ReadText(folder_ + "/memory.events");
  return {CountOf("oom", events), CountOf("oom_kill", events)};
}

absl::StatusOr<std::unique_ptr<ControlGroup>> ControlGroup::Create(
    const std::string& folder, const v1::Resources& limits) {
  RETURN_IF_ERROR(MakeGroup(folder));
  // From now on the destructor removes it.
  std::unique_ptr<ControlGroup> group(
      new ControlGroup(folder, limits.memory_bytes()));
  RETURN_IF_ERROR(group->Limit(limits));
  group->before_ = group->CountKills();
  return group;
}

absl::Status ControlGroup::Limit(const v1::Resources& limits) {
  if (limits.millicores() != 0) {
    const uint64_t quota =
        std::max(kMinQuotaMicros, limits.millicores() * kPeriodMicros / 1000);
    RETURN_IF_ERROR(WriteText(folder_ + "/cpu.max",
                              absl::StrCat(quota, " ", kPeriodMicros)));
  }
  if (limits.memory_bytes() != 0) {
    RETURN_IF_ERROR(WriteText(folder_ + "/memory.max",
                              absl::StrCat(limits.memory_bytes())));
    // Neither is everywhere: a kernel may have no swap, or be old.
    WriteText(folder_ + "/memory.swap.max", "0").IgnoreError();
    WriteText(folder_ + "/memory.oom.group", "1").IgnoreError();
  }
  ASSIGN_OR_RETURN(procs_, OpenToWrite(folder_ + "/cgroup.procs"));
  return absl::OkStatus();
}

ControlGroup::~ControlGroup() { EndGroup(folder_); }

std::string ControlGroup::WhyKilled() const {
  const Kills now = CountKills();
  if (now.killed == before_.killed) return "";
  // The limit that was reached may be that of a group above.
  if (now.at_limit == before_.at_limit) {
    return "killed, since its machine had no memory left";
  }
  return absl::StrCat("ended by its memory limit of ", SizeText(memory_bytes_));
}

absl::StatusOr<std::unique_ptr<ControlGroupParent>> ControlGroupParent::Create(
    const std::string& root) {
  ASSIGN_OR_RETURN(const std::string own,
                   OwnGroup(ReadText(root + "/proc/self/cgroup")));
  const std::string folder = absl::StrCat(root, "/sys/fs/cgroup", own);
  RETURN_IF_ERROR(CheckParent(folder));
  // From now on the destructor puts all back.
  std::unique_ptr<ControlGroupParent> parent(new ControlGroupParent(folder));
  EndLeftGroups(folder);
  absl::Status status = MakeGroup(folder + kDaemonGroup);
  if (status.ok()) {
    status = WriteText(absl::StrCat(folder, kDaemonGroup, "/cgroup.procs"),
                       absl::StrCat(getpid()));
  }
  if (status.ok()) {
    status = WriteText(folder + "/cgroup.subtree_control", "+cpu +memory");
  }
  if (status.ok()) return parent;
  return absl::FailedPreconditionError(status.message());
}

absl::StatusOr<std::unique_ptr<ControlGroup>> ControlGroupParent::Add(
    const v1::Resources& limits) {
  return ControlGroup::Create(absl::StrCat(folder_, "/", kTaskGroup, ++groups_),
                              limits);
}

ControlGroupParent::~ControlGroupParent() {
  WriteText(folder_ + "/cgroup.subtree_control", "-cpu -memory").IgnoreError();
  WriteText(folder_ + "/cgroup.procs", absl::StrCat(getpid())).IgnoreError();
  RemoveGroup(folder_ + kDaemonGroup);
}

}  // namespace paceline
