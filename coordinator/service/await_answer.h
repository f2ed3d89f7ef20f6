// Answers a call once there is news for it.
#ifndef PACELINE_COORDINATOR_SERVICE_AWAIT_ANSWER_H_
#define PACELINE_COORDINATOR_SERVICE_AWAIT_ANSWER_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/rpc/service_client.h"
#include "coordinator/service/shared_queue.h"

namespace paceline {

// `ask(books, is_last_try)` returns an absl::StatusOr<std::optional<Response>>;
// nullopt: there is no answer yet. It is asked now, after each `news`, and for
// the last time after kServicePoll. `is_news`: see SharedQueue::Await.
// `response` must be valid until `done` was called.
template <typename Response, typename Ask>
void AwaitAnswer(SharedQueue& queue, const std::string& news, bool is_news,
                 Response& response,
                 const std::function<void(const absl::Status&)>& done,
                 Ask ask) {
  queue.Await(
      news, kServicePoll, is_news,
      [&response, done, ask = std::move(ask)](
          SharedQueue::Books& books,
          bool is_last_try) -> std::function<void()> {
        absl::StatusOr<std::optional<Response>> answer =
            ask(books, is_last_try);
        if (answer.ok() && !answer->has_value()) return nullptr;
        if (answer.ok()) response = **std::move(answer);
        return [done, status = answer.status()] { done(status); };
      },
      done);
}

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_AWAIT_ANSWER_H_
