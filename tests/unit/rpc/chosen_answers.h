// A service whose answers tests control.
#ifndef PACELINE_TESTS_UNIT_RPC_CHOSEN_ANSWERS_H_
#define PACELINE_TESTS_UNIT_RPC_CHOSEN_ANSWERS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/rpc/rpc_service.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

// Answers pulls with the requested size, and never answers a fence.
class ChosenAnswers : public RpcService {
 public:
  ChosenAnswers() : RpcService("paceline.v1.ParameterServerService") {
    AddMessages<v1::PullRequest, v1::PullResponse>(
        "Pull", kLimit,
        [](const auto& request, auto& response, const Done& done) {
          response.add_variables()->mutable_dense()->set_values(
              std::string(request.ps_incarnation(), 'x'));
          done(absl::OkStatus());
        });
    AddMessages<v1::PushRequest, v1::PushResponse>(
        "Push", kLimit, [](const auto&, auto&, const Done& done) {
          done(absl::FailedPreconditionError("fenced"));
        });
    AddMessages<v1::ApplyRequest, v1::ApplyResponse>(
        "Apply", kLimit, [](const auto&, auto&, const Done& done) {
          done(absl::PermissionDeniedError("of a folder"));
        });
    Add("Fence", {[this](ServerCall& call) {
                    MutexLock lock(mutex_);
                    fences_.push_back(&call);
                  },
                  kLimit});
  }
  ~ChosenAnswers() override { ReleaseFences(); }

  void ReleaseFences() {
    MutexLock lock(mutex_);
    for (ServerCall* fence : fences_) {
      fence->Finish(absl::CancelledError("released"));
    }
    fences_.clear();
  }

  // Maximum size of a request, in bytes.
  static constexpr size_t kLimit = 1000;

 private:
  Mutex mutex_;
  std::vector<ServerCall*> fences_ ABSL_GUARDED_BY(mutex_);
};

inline absl::Span<std::byte> BufferIn(std::string& values) {
  return {reinterpret_cast<std::byte*>(values.data()), values.size()};
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_RPC_CHOSEN_ANSWERS_H_
