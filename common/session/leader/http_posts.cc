#include "common/session/leader/http_posts.h"

#include <curl/curl.h>
#include <glog/logging.h>

#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/peer_text.h"

namespace paceline {
namespace {

constexpr absl::Duration kFinishInterval = absl::Milliseconds(10);

size_t Ignore(char* /*data*/, size_t one, size_t size, void* /*context*/) {
  return one * size;
}

template <typename T>
void SetOption(CURL* easy, CURLoption option, T value) {
  CHECK_EQ(curl_easy_setopt(easy, option, value), CURLE_OK) << option;
}

void Warn(const PostLogs& post, absl::string_view reason) {
  LOG(WARNING) << PeerText(post.warning) << " (" << PeerText(reason) << ")";
}

}  // namespace

// The request under way.
struct HttpPosts::Transfer {
  explicit Transfer(PostLogs post_in) : post(std::move(post_in)) {
    CHECK(multi != nullptr && easy != nullptr) << "libcurl does not start";
    for (const std::string& header : post.headers) {
      headers = curl_slist_append(headers, header.c_str());
    }
    SetOption(easy, CURLOPT_URL, post.url.c_str());
    SetOption(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    SetOption(easy, CURLOPT_NOSIGNAL, 1L);
    // Does not wait for a name that is being looked up.
    SetOption(easy, CURLOPT_QUICK_EXIT, 1L);
    SetOption(easy, CURLOPT_USERAGENT, "paceline");
    SetOption(easy, CURLOPT_HTTPHEADER, headers);
    SetOption(easy, CURLOPT_POSTFIELDSIZE_LARGE,
              static_cast<curl_off_t>(post.body.size()));
    SetOption(easy, CURLOPT_POSTFIELDS, post.body.c_str());
    SetOption(easy, CURLOPT_WRITEFUNCTION, &Ignore);
    SetOption(easy, CURLOPT_TIMEOUT_MS,
              static_cast<long>(  // NOLINT(google-runtime-int)
                  absl::ToInt64Milliseconds(kPostTimeout)));
    CHECK_EQ(curl_multi_add_handle(multi, easy), CURLM_OK);
  }
  ~Transfer() {
    curl_multi_remove_handle(multi, easy);
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
    curl_slist_free_all(headers);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Whether it is over.
  bool Advance() {
    int running = 0;
    const CURLMcode code = curl_multi_perform(multi, &running);
    if (code != CURLM_OK) {
      Warn(post, curl_multi_strerror(code));
      return true;
    }
    int left = 0;
    const CURLMsg* const message = curl_multi_info_read(multi, &left);
    if (message != nullptr && message->data.result != CURLE_OK) {
      Warn(post, curl_easy_strerror(message->data.result));
    }
    return running == 0;
  }

  const PostLogs post;
  CURLM* const multi = curl_multi_init();
  CURL* const easy = curl_easy_init();
  curl_slist* headers = nullptr;
};

HttpPosts::HttpPosts() = default;
HttpPosts::~HttpPosts() = default;

void HttpPosts::Add(PostLogs post) {
  if (waiting_.size() >= kMaxWaitingPosts) {
    Warn(post, "too many requests wait");
    return;
  }
  waiting_.push_back(std::move(post));
}

void HttpPosts::Poll() {
  if (transfer_ == nullptr) {
    if (waiting_.empty()) return;
    transfer_ = std::make_unique<Transfer>(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  if (transfer_->Advance()) transfer_.reset();
}

void HttpPosts::Finish() {
  const absl::Time deadline = MonotonicNow() + kPostTimeout;
  while (transfer_ != nullptr || !waiting_.empty()) {
    Poll();
    if (MonotonicNow() < deadline) {
      absl::SleepFor(kFinishInterval);
      continue;
    }
    if (transfer_ != nullptr) Warn(transfer_->post, "no answer");
    for (const PostLogs& post : waiting_) Warn(post, "not sent");
    transfer_.reset();
    waiting_.clear();
  }
}

}  // namespace paceline
