// Sends what callbacks post, one request after the other.
#ifndef PACELINE_COMMON_SESSION_LEADER_HTTP_POSTS_H_
#define PACELINE_COMMON_SESSION_LEADER_HTTP_POSTS_H_

#include <deque>
#include <memory>

#include "absl/time/time.h"
#include "common/callback/callback.h"

namespace paceline {

// A request fails if it has no answer within this time.
inline constexpr absl::Duration kPostTimeout = absl::Seconds(10);
// Of requests that wait; a server that is so slow misses the next ones.
inline constexpr size_t kMaxWaitingPosts = 64;

// A request that fails is a warning in the log; any answer is a success, as in
// Keras. Follows no redirect. Not thread-safe. Only Finish blocks.
class HttpPosts {
 public:
  HttpPosts();
  ~HttpPosts();

  void Add(PostLogs post);
  // Call it often.
  void Poll();
  // Sends what waits, within kPostTimeout in all.
  void Finish();

 private:
  struct Transfer;

  std::deque<PostLogs> waiting_;
  std::unique_ptr<Transfer> transfer_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_HTTP_POSTS_H_
