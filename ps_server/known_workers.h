// What a chunk of a shard remembers of workers: of those that the leader named
// to it, and of no others, so that its memory and its part of a checkpoint do
// not grow with what peers claim.
//
//   Admit ──> may push ── Fence ──> fenced ── room is needed ──> forgotten
//
// The leader names each process that takes a worker's place, once the one
// before is fenced. So a rank has one process at a time that may push. The
// fenced ones before it are kept to answer a Fence that comes again, and to
// withstand an Admit that comes late: such messages are under way for seconds,
// while limits::kMaxKnownProcesses of a rank take longer to come and go. Those
// that are forgotten are refused as all are that were not admitted.
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
  // Of the last push applied, and of the last one applied that came with sums;
  // sequence 0 if there was none. An early push comes without.
  v1::Progress last;
  v1::Progress last_summed;
  bool is_fenced = false;
  // It comes from a checkpoint; the leader has not named it since.
  bool is_restored = false;
  // Larger than that of those which were added before.
  uint64_t number = 0;

  // Under bounded staleness.
  uint64_t clock = 0;
  bool is_active = false;
  // When it was first seen that it is active, and has its answer; nullopt: it
  // pushed or joined since.
  std::optional<absl::Time> idle_since;
  // It was waited for too long, and has not pushed since.
  bool has_lapsed = false;

  // The push that has no answer yet, and, if it is not applied yet either, its
  // progress.
  std::optional<uint64_t> held;
  std::optional<v1::Progress> held_progress;

  // Of the last push it sent.
  uint64_t sequence() const {
    return held_progress ? held_progress->sequence() : last.sequence();
  }
  // A push of this progress was applied.
  void RecordApplied(v1::Progress progress);
};

// Not thread-safe; a value.
class KnownWorkers {
 public:
  // Rank and incarnation.
  using Key = std::pair<uint32_t, uint64_t>;
  using Workers = std::map<Key, KnownWorker>;

  // Workers of ranks below `ranks`.
  explicit KnownWorkers(uint32_t ranks) : ranks_(ranks) {}

  // Lets a process push from now on; one that is known stays as it is.
  // InvalidArgument: it has no incarnation, or a rank that the job does not
  // have. ResourceExhausted: too many processes of the rank are not fenced.
  absl::Status Admit(const v1::WorkerId& worker);

  // nullptr if the process was not admitted, or is forgotten. A pointer is
  // valid until the next Admit, Fence or Restore.
  KnownWorker* Find(const v1::WorkerId& worker);

  // Shuts a process out. nullptr if it is not remembered: it has no place in
  // the job, or the memory of its rank is taken.
  KnownWorker* Fence(const v1::WorkerId& worker);

  // All, in the order of ranks.
  Workers& all() { return workers_; }
  const Workers& all() const { return workers_; }

  // How many there have been, with those that are forgotten.
  uint64_t count() const { return count_; }

  // As common/checkpoint/FORMAT.md has them: those that pushed or are fenced,
  // without the sums of their reports.
  std::map<std::string, std::string> Save() const;
  // Adds what was saved, but for ranks that the job no longer has, and what
  // exceeds the limit of a rank. Other entries are ignored. DataLoss names the
  // entry that cannot be read.
  absl::Status Restore(const std::map<std::string, std::string>& saved);

  // Internal, naming the worker, unless all have ranks of the job and numbers
  // that were given, and no rank has more than limits::kMaxKnownProcesses. For
  // tests.
  absl::Status CheckInvariants() const;

 private:
  // A new entry; nullptr if there is no room for it.
  KnownWorker* Add(const Key& key);
  // Forgets the oldest that can be spared, if the rank has as many as it may
  // have. False if none can be.
  bool MakeRoom(uint32_t rank);

  uint32_t ranks_;
  uint64_t count_ = 0;
  Workers workers_;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_KNOWN_WORKERS_H_
