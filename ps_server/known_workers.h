// The workers that a chunk of a shard remembers: only those that the leader
// named to it. So neither its memory nor its part of a checkpoint grows with
// claims of other peers.
//
//   Admit ──> may push ── Fence ──> fenced ── room is needed ──> forgotten
//
// The leader admits each process that takes a worker's place, after it has
// fenced the process before. So only one process of a rank may push at a time.
// Fenced processes stay remembered to answer a repeated Fence and to resist a
// late Admit. Such messages are under way for seconds, in which a rank cannot
// go through limits::kMaxKnownProcesses processes. A forgotten process is
// refused like one that was never admitted.
#ifndef PACELINE_PS_SERVER_KNOWN_WORKERS_H_
#define PACELINE_PS_SERVER_KNOWN_WORKERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

struct KnownWorker {
  // Progress of the last push applied; sequence 0 if there was none.
  v1::Progress last;
  // If the last one was an early push, which has no sums: the progress of the
  // last one before it that had sums. Call last_summed() instead.
  v1::Progress summed_before;
  bool is_fenced = false;
  // Restored from a checkpoint, and not admitted by the leader since.
  bool is_restored = false;
  // Larger than the numbers of all workers that were added before.
  uint64_t number = 0;

  // Clock and activity are used only under bounded staleness.
  uint64_t clock = 0;
  bool is_active = false;
  // When HandleTime first saw that the worker is active and waits for no
  // answer; nullopt if it has pushed or joined since.
  std::optional<absl::Time> idle_since;
  // The others waited for it for too long, and it has not pushed since.
  bool has_lapsed = false;

  // The ticket of the push that has no answer yet. Its progress, if the push is
  // not applied yet either.
  std::optional<uint64_t> held;
  std::optional<v1::Progress> held_progress;
  // The learning rate of that push, if it has one.
  std::optional<double> held_learning_rate;

  // Sequence number of the last push that arrived.
  uint64_t sequence() const {
    return held_progress ? held_progress->sequence() : last.sequence();
  }
  // Progress of the last push applied that had sums; sequence 0 if there was
  // none.
  const v1::Progress& last_summed() const;
  // Call it when a push with this progress was applied.
  void RecordApplied(v1::Progress progress);
};

// Not thread-safe; a value.
class KnownWorkers {
 public:
  // Rank and incarnation.
  using Key = std::pair<uint32_t, uint64_t>;
  using Workers = std::map<Key, KnownWorker>;

  // Only workers with ranks below `ranks` are admitted.
  explicit KnownWorkers(uint32_t ranks) : ranks_(ranks) {}

  // Allows a process to push. No effect if it is already known.
  // InvalidArgument: it has no incarnation, or an impossible rank.
  // ResourceExhausted: too many processes of this rank are not fenced.
  absl::Status Admit(const v1::WorkerId& worker);

  // Null if the process was not admitted, or is forgotten. The pointer is valid
  // until the next Admit, Fence or Restore.
  KnownWorker* Find(const v1::WorkerId& worker);

  // Fences a process. Null if it is not remembered, since its rank is
  // impossible or has no room left.
  KnownWorker* Fence(const v1::WorkerId& worker);

  // All workers, sorted by rank.
  Workers& all() { return workers_; }
  const Workers& all() const { return workers_; }

  // Number of processes ever added, including forgotten ones.
  uint64_t count() const { return count_; }

  // The workers that pushed or are fenced, without the sums of their reports,
  // in the format of common/checkpoint/FORMAT.md.
  std::map<std::string, std::string> Save() const;
  // Adds the saved workers, except those with ranks that the job no longer has,
  // and those above the limit of their rank. Ignores entries of other kinds.
  // DataLoss names the entry that cannot be parsed.
  absl::Status Restore(const std::map<std::string, std::string>& saved);

  // Internal, naming the worker, unless all workers have possible ranks and
  // numbers from 1 to count(), and no rank has more than
  // limits::kMaxKnownProcesses. For tests.
  absl::Status CheckInvariants() const;

 private:
  // Adds a worker; null if there is no room for it.
  KnownWorker* Add(const Key& key);
  // If the rank is full, forgets the oldest of its processes that have no held
  // push and are either fenced, or restored and not admitted since. False if
  // there is none.
  bool MakeRoom(uint32_t rank);

  uint32_t ranks_;
  uint64_t count_ = 0;
  Workers workers_;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_KNOWN_WORKERS_H_
