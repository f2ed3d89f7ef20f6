#include "common/remote_file/transfer.h"

#include <curl/curl.h>
#include <glog/logging.h>

#include <algorithm>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// Of all headers of a response.
constexpr size_t kMaxHeaderBytes = 256 << 10;
constexpr int64_t kMinBytesPerSecond = 1 << 10;
// libcurl looks each second. A longer gap is this process's own: it, or its
// machine, stood still.
constexpr absl::Duration kMaxGap = absl::Seconds(2);

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct FreeText {
  void operator()(char* text) const { curl_free(text); }
};

// What a Location header means in the answer for `url`. libcurl says so only
// after the body. As it is, if it is no URL.
std::string Resolved(const char* url, const std::string& location) {
  const std::unique_ptr<CURLU, FreeUrl> resolved(curl_url());
  char* text = nullptr;
  if (resolved == nullptr ||
      curl_url_set(resolved.get(), CURLUPART_URL, url, 0) != CURLUE_OK ||
      curl_url_set(resolved.get(), CURLUPART_URL, location.c_str(),
                   CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
      curl_url_get(resolved.get(), CURLUPART_URL, &text, 0) != CURLUE_OK) {
    return location;
  }
  const std::unique_ptr<char, FreeText> owned(text);
  return text;
}

// Notices a server that sends too little for too long. libcurl's own limit of
// speed would blame it for the time that this process takes to store what came,
// on a disk that is busy.
class SilenceWatch {
 public:
  explicit SilenceWatch(absl::Duration patience) : patience_(patience) {}

  // Call it about each second, with the number of bytes that have come. Whether
  // they were too few for as long as the patience lasts.
  bool IsTooLong(int64_t bytes) {
    const absl::Time now = MonotonicNow();
    waited_ += std::min(now - last_look_, kMaxGap);
    last_look_ = now;
    const double wanted =
        kMinBytesPerSecond * std::max(1.0, absl::ToDoubleSeconds(waited_));
    if (static_cast<double>(bytes - bytes_) >= wanted) {
      bytes_ = bytes;
      waited_ = absl::ZeroDuration();
    }
    return waited_ >= patience_;
  }
  // The time since the last look does not count.
  void WasBusy() { last_look_ = MonotonicNow(); }

 private:
  const absl::Duration patience_;
  absl::Time last_look_ = MonotonicNow();
  // Since the server last sent enough, and what had come then.
  absl::Duration waited_;
  int64_t bytes_ = 0;
};

// A response as it comes. libcurl calls it from C, which takes no exceptions.
class Receiver {
 public:
  Receiver(CURL* easy, absl::Duration patience,
           absl::FunctionRef<absl::Status(const HttpResponse&)> answered,
           absl::FunctionRef<absl::Status(absl::string_view)> take)
      : easy_(easy),
        patience_(patience),
        answered_(answered),
        take_(take),
        silence_(patience) {}

  static size_t TakeHeader(char* data, size_t one, size_t size, void* self) {
    return static_cast<Receiver*>(self)->Header({data, one * size});
  }
  static size_t TakeBody(char* data, size_t one, size_t size, void* self) {
    return static_cast<Receiver*>(self)->Body({data, one * size});
  }
  static int Look(void* self, curl_off_t /*all*/, curl_off_t bytes,
                  curl_off_t /*sent_all*/, curl_off_t /*sent*/) {
    return static_cast<Receiver*>(self)->GoesOn(bytes) ? 0 : 1;
  }

  // After the transfer: a response may have no body.
  absl::Status Finish() {
    if (status_.ok()) status_ = Answer();
    return status_;
  }
  const absl::Status& status() const { return status_; }

 private:
  size_t Header(absl::string_view line) {
    header_bytes_ += line.size();
    if (header_bytes_ > kMaxHeaderBytes) {
      status_ = absl::FailedPreconditionError(absl::StrCat(
          "the server's headers have more than ", kMaxHeaderBytes, " bytes"));
      return 0;
    }
    // Of a response before the last one, such as "100 Continue".
    if (absl::StartsWith(line, "HTTP/")) response_.headers.clear();
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos) return line.size();
    response_.headers[absl::AsciiStrToLower(line.substr(0, colon))] =
        std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
    return line.size();
  }

  size_t Body(absl::string_view bytes) {
    if (status_.ok()) status_ = Answer();
    if (status_.ok()) status_ = take_(bytes);
    silence_.WasBusy();
    // Any other number ends the transfer.
    return status_.ok() ? bytes.size() : bytes.size() + 1;
  }

  bool GoesOn(int64_t bytes) {
    if (status_.ok() && silence_.IsTooLong(bytes)) {
      status_ = absl::UnavailableError(absl::StrCat(
          "the server sent less than ", kMinBytesPerSecond,
          " bytes a second for ", absl::FormatDuration(patience_)));
    }
    return status_.ok();
  }

  absl::Status Answer() {
    if (has_answered_) return absl::OkStatus();
    has_answered_ = true;
    long status = 0;  // NOLINT(google-runtime-int): libcurl's.
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    response_.status = static_cast<int>(status);
    curl_off_t length = -1;
    curl_easy_getinfo(easy_, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    response_.length = length;
    const std::string location = response_.Header("location");
    char* url = nullptr;
    curl_easy_getinfo(easy_, CURLINFO_EFFECTIVE_URL, &url);
    if (!location.empty() && url != nullptr) {
      response_.redirect = Resolved(url, location);
    }
    return answered_(response_);
  }

  CURL* const easy_;
  const absl::Duration patience_;
  const absl::FunctionRef<absl::Status(const HttpResponse&)> answered_;
  const absl::FunctionRef<absl::Status(absl::string_view)> take_;
  SilenceWatch silence_;
  HttpResponse response_;
  absl::Status status_;
  size_t header_bytes_ = 0;
  bool has_answered_ = false;
};

template <typename T>
void Set(CURL* easy, CURLoption option, T value) {
  CHECK_EQ(curl_easy_setopt(easy, option, value), CURLE_OK) << option;
}

void SetNetwork(CURL* easy, const HttpRequest& request,
                const Network& network) {
  // libcurl would read the environment for those that are not set.
  Set(easy, CURLOPT_PROXY,
      absl::StartsWith(request.url, "https:") ? network.https_proxy.c_str()
                                              : network.http_proxy.c_str());
  Set(easy, CURLOPT_NOPROXY, network.no_proxy.c_str());
  Set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (!network.authority_file.empty()) {
    Set(easy, CURLOPT_CAINFO, network.authority_file.c_str());
    Set<const char*>(easy, CURLOPT_CAPATH, nullptr);
  }
  Set(easy, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(  // NOLINT(google-runtime-int)
          absl::ToInt64Milliseconds(network.patience)));
}

std::unique_ptr<curl_slist, FreeList> SetRequest(CURL* easy,
                                                 const HttpRequest& request) {
  Set(easy, CURLOPT_URL, request.url.c_str());
  Set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  Set(easy, CURLOPT_NOSIGNAL, 1L);
  Set(easy, CURLOPT_USERAGENT, "paceline");
  // Where parts of a name mean something, S3's for one, they stay as they are.
  Set(easy, CURLOPT_PATH_AS_IS, 1L);
  if (request.offset > 0) {
    Set(easy, CURLOPT_RANGE, absl::StrCat(request.offset, "-").c_str());
  }
  curl_slist* headers = nullptr;
  for (const std::string& header : request.headers) {
    headers = curl_slist_append(headers, header.c_str());
  }
  Set(easy, CURLOPT_HTTPHEADER, headers);
  if (!request.s3_region.empty()) {
    Set(easy, CURLOPT_AWS_SIGV4,
        absl::StrCat("aws:amz:", request.s3_region, ":s3").c_str());
    Set(easy, CURLOPT_USERNAME, request.access_key.c_str());
    Set(easy, CURLOPT_PASSWORD, request.secret_key.c_str());
  }
  return std::unique_ptr<curl_slist, FreeList>(headers);
}

absl::Status StatusOf(CURLcode code, const char* details) {
  std::string message = PeerText(
      absl::string_view(details).empty() ? curl_easy_strerror(code) : details);
  switch (code) {
    case CURLE_OK:
      return absl::OkStatus();
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2_STREAM:
      return absl::DataLossError(message);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
      return absl::FailedPreconditionError(message);
    default:
      return absl::UnavailableError(message);
  }
}

}  // namespace

std::string HttpResponse::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

absl::Status Transfer(
    const HttpRequest& request, const Network& network,
    absl::FunctionRef<absl::Status(const HttpResponse&)> answered,
    absl::FunctionRef<absl::Status(absl::string_view)> take) {
  const std::unique_ptr<CURL, FreeEasy> easy(curl_easy_init());
  CHECK(easy != nullptr) << "libcurl does not start";
  char details[CURL_ERROR_SIZE] = {};
  Set(easy.get(), CURLOPT_ERRORBUFFER, &details[0]);
  SetNetwork(easy.get(), request, network);
  const std::unique_ptr<curl_slist, FreeList> headers =
      SetRequest(easy.get(), request);
  Receiver receiver(easy.get(), network.patience, answered, take);
  Set(easy.get(), CURLOPT_HEADERFUNCTION, &Receiver::TakeHeader);
  Set(easy.get(), CURLOPT_HEADERDATA, &receiver);
  Set(easy.get(), CURLOPT_WRITEFUNCTION, &Receiver::TakeBody);
  Set(easy.get(), CURLOPT_WRITEDATA, &receiver);
  Set(easy.get(), CURLOPT_XFERINFOFUNCTION, &Receiver::Look);
  Set(easy.get(), CURLOPT_XFERINFODATA, &receiver);
  Set(easy.get(), CURLOPT_NOPROGRESS, 0L);
  const CURLcode code = curl_easy_perform(easy.get());
  RETURN_IF_ERROR(receiver.status());
  RETURN_IF_ERROR(StatusOf(code, details));
  return receiver.Finish();
}

}  // namespace paceline
