#include "common/checkpoint/checkpointer.h"

#include <iterator>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/atomic_file.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/folder.h"
#include "common/base/relative_path.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// CondVar requires a timeout; any would do.
constexpr absl::Duration kWaitInterval = absl::Seconds(1);

bool IsAbsolute(const std::string& path) { return absl::StartsWith(path, "/"); }

// The folder of a checkpoint. The leader has created it where all tasks share
// its folder.
absl::StatusOr<Folder> OpenCheckpoint(const std::string& directory,
                                      const std::string& name) {
  const auto open = [&]() -> absl::StatusOr<Folder> {
    ASSIGN_OR_RETURN(const Folder checkpoints, Folder::Open(directory));
    return checkpoints.OpenBelow(name);
  };
  absl::StatusOr<Folder> folder = open();
  if (!absl::IsNotFound(folder.status())) return folder;
  return absl::NotFoundError(absl::StrCat(
      folder.status().message(),
      "; expected the leader's folder for checkpoints, on a file system that "
      "the leader and all tasks with variables share"));
}

Checkpointer::Result Write(const std::string& directory,
                           const std::string& name,
                           const ShardSnapshot& snapshot) {
  if (!IsAbsolute(directory)) {
    RETURN_IF_ERROR(MakeDirectories(absl::StrCat(directory, "/", name)));
  }
  std::vector<NamedTensor> tensors;
  for (const SnapshotTensor& tensor : snapshot.tensors) {
    tensors.push_back({tensor.name, tensor.type, tensor.shape, tensor.bytes});
  }
  ASSIGN_OR_RETURN(Folder folder, OpenCheckpoint(directory, name));
  ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                   AtomicFile::CreateNew(std::move(folder), snapshot.file));
  ASSIGN_OR_RETURN(
      const WrittenFile written,
      WriteSafetensors(*file, snapshot.metadata, std::move(tensors)));
  return ShardFile{snapshot.file, written.size_bytes, written.crc32,
                   snapshot.step};
}

}  // namespace

Checkpointer::Checkpointer() : thread_([this] { Run(); }) {}

Checkpointer::~Checkpointer() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

absl::Status Checkpointer::Start(const std::string& directory,
                                 const std::string& name,
                                 ShardSnapshot snapshot) {
  RETURN_IF_ERROR(CheckCheckpointName(name));
  if (!IsAbsolute(directory) && !StaysBelow(directory)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the leader named \"", directory,
                     "\" as the folder for checkpoints; expected an absolute "
                     "path, or one below this task's working folder"));
  }
  std::optional<Work> replaced;
  {
    MutexLock lock(mutex_);
    const auto known = entries_.find(name);
    if (known != entries_.end() && !known->second.result) {
      return absl::FailedPreconditionError(
          absl::StrCat("a snapshot for ", name, " is being written"));
    }
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      entry = entry->second.result ? entries_.erase(entry) : std::next(entry);
    }
    entries_[name];
    replaced = std::move(next_);
    next_ = Work{directory, name, std::move(snapshot)};
    changed_.NotifyAll();
  }
  if (replaced) {
    Finish(replaced->name,
           absl::AbortedError(absl::StrCat("a newer snapshot, for ", name,
                                           ", came before the snapshot for ",
                                           replaced->name, " was written")));
  }
  return absl::OkStatus();
}

void Checkpointer::WhenWritten(const std::string& name, Done done) {
  const absl::Status valid = CheckCheckpointName(name);
  if (!valid.ok()) return done(valid);
  Result result =
      absl::NotFoundError(absl::StrCat("there is no snapshot for ", name));
  {
    MutexLock lock(mutex_);
    const auto entry = entries_.find(name);
    if (entry != entries_.end()) {
      if (!entry->second.result) {
        entry->second.waiting.push_back(std::move(done));
        return;
      }
      result = *entry->second.result;
    }
  }
  done(result);
}

void Checkpointer::Run() {
  while (true) {
    Work work;
    bool is_stopping = false;
    {
      MutexLock lock(mutex_);
      while (!next_ && !is_stopping_) {
        changed_.WaitFor(mutex_, kWaitInterval);
      }
      if (!next_) return;
      work = *std::exchange(next_, std::nullopt);
      is_stopping = is_stopping_;
    }
    if (is_stopping) {
      Finish(work.name, absl::CancelledError("the process ends"));
    } else {
      const absl::Time start = MonotonicNow();
      const Result result = Write(work.directory, work.name, work.snapshot);
      if (result.ok()) {
        LOG(INFO) << "wrote " << work.directory << "/" << work.name << "/"
                  << work.snapshot.file << ", " << result->size_bytes
                  << " bytes at step " << work.snapshot.step << ", in "
                  << MonotonicNow() - start;
      } else {
        LOG(ERROR) << "checkpoint " << work.name
                   << " failed: " << result.status().message();
      }
      Finish(work.name, result);
    }
  }
}

void Checkpointer::Finish(const std::string& name, const Result& result) {
  std::vector<Done> waiting;
  {
    MutexLock lock(mutex_);
    Entry& entry = entries_[name];
    entry.result = result;
    waiting.swap(entry.waiting);
  }
  for (const Done& done : waiting) done(result);
}

}  // namespace paceline
