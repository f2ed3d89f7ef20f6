// Many idle daemons of a service, without their machines.
//
//   daemons_benchmark HOST:PORT SECRET_FILE DAEMONS SECONDS
//
// Registers so many daemons with the coordinator, over a connection each, and
// has them send Sync as idle daemons do: the next message follows the answer to
// the last, which the coordinator holds back for kServicePoll. Then, for so
// many seconds, a person lists jobs every 20 ms. Prints JSON: how long the
// registrations took, how many messages were answered, how late their answers
// were, and how long `list` took. tests/benchmark/service.py looks at the
// coordinator's processor time and memory meanwhile.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/ticker.h"
#include "common/cluster/task_proto.h"
#include "common/identity/job_secret.h"
#include "common/process/lock_checks.h"
#include "common/rpc/service_client.h"
#include "glog/logging.h"
#include "nlohmann/json.hpp"
#include "tests/benchmark/quantiles.h"

namespace paceline {
namespace {

constexpr absl::Duration kProbeInterval = absl::Milliseconds(20);
// Between the starts of two daemons.
constexpr absl::Duration kStartInterval = absl::Milliseconds(2);
// After an error, as a daemon's first pause.
constexpr absl::Duration kRetryInterval = absl::Milliseconds(500);
constexpr absl::Duration kRegistrationTimeout = absl::Minutes(5);

// Milliseconds of answers. Thread-safe.
class Latencies {
 public:
  void Add(absl::Duration time) {
    MutexLock lock(mutex_);
    milliseconds_.push_back(absl::ToDoubleMilliseconds(time));
  }
  nlohmann::json Take() {
    MutexLock lock(mutex_);
    CHECK(!milliseconds_.empty()) << "nothing was answered";
    return {{"count", milliseconds_.size()},
            {"p50_ms", Quantile(milliseconds_, 0.5)},
            {"p99_ms", Quantile(milliseconds_, 0.99)}};
  }
  void Clear() {
    MutexLock lock(mutex_);
    milliseconds_.clear();
  }

 private:
  Mutex mutex_;
  std::vector<double> milliseconds_ ABSL_GUARDED_BY(mutex_);
};

class IdleDaemon;

// What all daemons report to.
struct Record {
  std::atomic<int> registered = 0;
  std::atomic<int> errors = 0;
  Latencies late;
  Mutex mutex;
  // Those whose last message ended with an error.
  std::vector<IdleDaemon*> failed ABSL_GUARDED_BY(mutex);
};

// Sends its next message from the thread that gets an answer.
class IdleDaemon {
 public:
  IdleDaemon(const std::string& address, const JobSecret& secret, int index,
             Record& record)
      : client_(address, std::make_shared<Caller>(
                             TaskToProto({TaskType::kWorker, index}),
                             static_cast<uint64_t>(index) + 1, secret)),
        record_(record) {
    request_.set_daemon(absl::StrCat("worker-", index));
    request_.set_incarnation(
        static_cast<uint64_t>(absl::ToUnixMicros(absl::Now())));
    request_.set_home(static_cast<uint64_t>(index) + 1);
    request_.set_type(v1::TASK_TYPE_WORKER);
    request_.set_version(PACELINE_VERSION);
    request_.mutable_total()->set_millicores(8000);
    request_.mutable_total()->set_memory_bytes(uint64_t{32} << 30);
  }

  void Send() {
    request_.set_sequence(request_.sequence() + 1);
    sent_ = MonotonicNow();
    client_.StartSync(request_,
                      [this](absl::StatusOr<v1::SyncResponse> answer) {
                        if (is_stopping_) return;
                        if (answer.ok()) {
                          Take(*answer);
                          return Send();
                        }
                        LOG_IF(ERROR, record_.errors++ == 0)
                            << request_.daemon() << ": " << answer.status();
                        MutexLock lock(record_.mutex);
                        record_.failed.push_back(this);
                      });
  }

  void Stop() {
    is_stopping_ = true;
    client_.CancelAll();
  }

 private:
  void Take(const v1::SyncResponse& answer) {
    const absl::Duration time = MonotonicNow() - sent_;
    if (request_.last_answer() == 0) ++record_.registered;
    // An answer with news comes at once.
    if (time >= kServicePoll) record_.late.Add(time - kServicePoll);
    request_.set_coordinator(answer.coordinator());
    request_.set_last_answer(request_.sequence());
  }

  ServiceClient client_;
  Record& record_;
  v1::SyncRequest request_;
  absl::Time sent_;
  std::atomic<bool> is_stopping_ = false;
};

void SendAgain(Record& record) {
  std::vector<IdleDaemon*> failed;
  {
    MutexLock lock(record.mutex);
    failed.swap(record.failed);
  }
  for (IdleDaemon* const daemon : failed) daemon->Send();
}

nlohmann::json Run(const std::string& address, const JobSecret& secret,
                   int count, absl::Duration duration) {
  Record record;
  std::vector<std::unique_ptr<IdleDaemon>> daemons;
  const absl::Time begin = MonotonicNow();
  for (int i = 0; i < count; ++i) {
    daemons.push_back(std::make_unique<IdleDaemon>(address, secret, i, record));
    daemons.back()->Send();
    absl::SleepFor(kStartInterval);
  }
  auto retries = std::make_unique<Ticker>(kRetryInterval,
                                          [&record] { SendAgain(record); });
  while (record.registered < count) {
    CHECK(MonotonicNow() - begin < kRegistrationTimeout)
        << record.registered << " of " << count << " daemons are registered";
    absl::SleepFor(absl::Milliseconds(10));
  }
  const absl::Duration registered = MonotonicNow() - begin;
  std::cerr << "registered" << std::endl;

  // Their messages spread over the time between two of one daemon.
  absl::SleepFor(2 * kServicePoll);
  record.late.Clear();
  ServiceClient person(
      address,
      std::make_shared<Caller>(TaskToProto({TaskType::kChief, 0}), 1, secret));
  Latencies lists;
  const absl::Time end = MonotonicNow() + duration;
  while (MonotonicNow() < end) {
    const absl::Time sent = MonotonicNow();
    const auto listed = person.ListJobs({});
    CHECK(listed.ok()) << listed.status();
    lists.Add(MonotonicNow() - sent);
    absl::SleepFor(kProbeInterval);
  }
  nlohmann::json result = {
      {"daemons", count},
      {"registered_seconds", absl::ToDoubleSeconds(registered)},
      {"errors", record.errors.load()},
      {"late", record.late.Take()},
      {"list", lists.Take()}};
  retries.reset();
  for (const auto& daemon : daemons) daemon->Stop();
  return result;
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  google::InitGoogleLogging(argv[0]);
  FLAGS_logtostderr = true;
  paceline::TurnOffDeadlockDetection();
  int count = 0;
  int seconds = 0;
  if (argc != 5 || !absl::SimpleAtoi(argv[3], &count) || count < 1 ||
      !absl::SimpleAtoi(argv[4], &seconds) || seconds < 1) {
    std::cerr << "usage: daemons_benchmark HOST:PORT SECRET_FILE DAEMONS "
                 "SECONDS\n";
    return 2;
  }
  const auto secret = paceline::JobSecret::FromFile(argv[2]);
  CHECK(secret.ok()) << secret.status();
  std::cout << paceline::Run(argv[1], *secret, count, absl::Seconds(seconds))
            << "\n";
  return 0;
}
