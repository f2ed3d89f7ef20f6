#include "common/checkpoint/checkpointer.h"

#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Waits end from time to time, though nothing happened.
constexpr absl::Duration kWaitInterval = absl::Seconds(1);

Checkpointer::Result Write(const std::string& path,
                           const ShardSnapshot& snapshot) {
  std::vector<NamedTensor> tensors;
  for (const SnapshotTensor& tensor : snapshot.tensors) {
    tensors.push_back({tensor.name, tensor.type, tensor.shape, tensor.bytes});
  }
  ASSIGN_OR_RETURN(const WrittenFile written,
                   WriteSafetensors(absl::StrCat(path, "/", snapshot.file),
                                    snapshot.metadata, std::move(tensors)));
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

void Checkpointer::Start(const std::string& path, ShardSnapshot snapshot) {
  MutexLock lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    entry = entry->second.result ? entries_.erase(entry) : std::next(entry);
  }
  const bool is_new = entries_.emplace(path, Entry()).second;
  CHECK(is_new) << "a snapshot for " << path << " is being written";
  queue_.push_back({path, std::move(snapshot)});
  changed_.NotifyAll();
}

void Checkpointer::WhenWritten(const std::string& path, Done done) {
  Result result =
      absl::NotFoundError(absl::StrCat("there is no snapshot for ", path));
  {
    MutexLock lock(mutex_);
    const auto entry = entries_.find(path);
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
      while (queue_.empty() && !is_stopping_) {
        changed_.WaitFor(mutex_, kWaitInterval);
      }
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
      is_stopping = is_stopping_;
    }
    if (is_stopping) {
      Finish(work.path, absl::CancelledError("the process ends"));
    } else {
      const absl::Time start = MonotonicNow();
      const Result result = Write(work.path, work.snapshot);
      if (result.ok()) {
        LOG(INFO) << "wrote " << work.path << "/" << work.snapshot.file << ", "
                  << result->size_bytes << " bytes at step "
                  << work.snapshot.step << ", in " << MonotonicNow() - start;
      } else {
        LOG(ERROR) << "checkpoint " << work.path
                   << " failed: " << result.status().message();
      }
      Finish(work.path, result);
    }
  }
}

void Checkpointer::Finish(const std::string& path, const Result& result) {
  std::vector<Done> waiting;
  {
    MutexLock lock(mutex_);
    Entry& entry = entries_[path];
    entry.result = result;
    waiting.swap(entry.waiting);
  }
  for (const Done& done : waiting) done(result);
}

}  // namespace paceline
