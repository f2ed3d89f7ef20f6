#include "common/remote_file/download.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/remote_file/cache_room.h"

namespace paceline {
namespace {

constexpr int kMaxRedirects = 5;
constexpr absl::Duration kFirstPause = absl::Milliseconds(200);
constexpr absl::Duration kLongestPause = absl::Seconds(10);
// How much an attempt must bring for its successors to have all patience anew.
constexpr int64_t kProgressBytes = 64 << 10;
// Room for a file of unknown size is made for as much again as has come,
// between these.
constexpr int64_t kMinReservedStep = 1 << 20;
constexpr int64_t kMaxReservedStep = 64 << 20;
// Of what a server says with an error.
constexpr size_t kMaxRefusalBytes = 4 << 10;
constexpr size_t kSha256Bytes = 32;

bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDataLoss(status) ||
         absl::IsAborted(status);
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 ||
         status == 308;
}

absl::StatusCode CodeOf(int status) {
  switch (status) {
    case 401:
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
    case 410:
      return absl::StatusCode::kNotFound;
    case 408:
    case 425:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kFailedPrecondition;
  }
}

// What is between <tag> and </tag>; "" if nothing is.
std::string Element(absl::string_view xml, absl::string_view tag) {
  const std::string begin = absl::StrCat("<", tag, ">");
  const size_t first = xml.find(begin);
  if (first == absl::string_view::npos) return "";
  xml.remove_prefix(first + begin.size());
  return std::string(xml.substr(0, xml.find('<')));
}

// The SHA-256 that S3 stores with an object; "" if there is none, or it is made
// of those of an upload's parts.
std::string StoredSha256(const HttpResponse& response) {
  std::string bytes;
  return absl::Base64Unescape(response.Header("x-amz-checksum-sha256"),
                              &bytes) &&
                 bytes.size() == kSha256Bytes
             ? absl::BytesToHexString(bytes)
             : "";
}

// Reads "bytes 10-99/100". Returns whether it is one.
bool ReadContentRange(absl::string_view text, int64_t& first, int64_t& total) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(text, absl::ByAnyChar(" -/"));
  return parts.size() == 4 && parts[0] == "bytes" &&
         absl::SimpleAtoi(parts[1], &first) &&
         absl::SimpleAtoi(parts[3], &total) && first >= 0 && total > first;
}

}  // namespace

absl::Status Download::Run() {
  absl::Time since = MonotonicNow();
  absl::Duration pause = kFirstPause;
  while (true) {
    bytes_come_ = 0;
    absl::Status status = Try();
    if (status.ok() || !MayPass(status)) return status;
    if (bytes_come_ >= kProgressBytes) {
      since = MonotonicNow();
      pause = kFirstPause;
    }
    if (MonotonicNow() + pause - since > options_.network.patience) {
      return absl::UnavailableError(absl::StrCat(
          "gave up after ", absl::FormatDuration(options_.network.patience),
          " without progress: ", status.message()));
    }
    LOG(WARNING) << url_.Shown() << ": " << status.message() << "; tries again";
    absl::SleepFor(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

absl::Status Download::Try() {
  HttpRequest request;
  if (url_.scheme == RemoteUrl::Scheme::kS3) {
    ASSIGN_OR_RETURN(request, S3Request(options_.s3, url_));
  } else {
    request.url = url_.Address();
  }
  AddConditions(request);
  for (int redirects = 0; redirects <= kMaxRedirects; ++redirects) {
    RETURN_IF_ERROR(Request(request));
    if (!IsRedirect(response_.status)) break;
    ASSIGN_OR_RETURN(request.url, Follow(request.url, response_.redirect));
  }
  if (IsRedirect(response_.status)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the server redirects more than ", kMaxRedirects, " times"));
  }
  if (is_unchanged_) return absl::OkStatus();
  if (response_.status != 200 && response_.status != 206) return Refusal();
  const int64_t bytes = entry_.part_version().bytes;
  if (bytes < 0 || entry_.part_bytes() == bytes) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "the server sent ", entry_.part_bytes(), " of ", bytes, " bytes"));
}

absl::Status Download::Request(const HttpRequest& request) {
  response_ = HttpResponse();
  refusal_text_.clear();
  const absl::Status status = Transfer(
      request, options_.network,
      [&](const HttpResponse& response) { return Answered(request, response); },
      [this](absl::string_view bytes) { return Take(bytes); });
  // Nobody reads the body of a redirect (Take), however long it is.
  return IsRedirect(response_.status) ? absl::OkStatus() : status;
}

void Download::AddConditions(HttpRequest& request) const {
  const FileVersion& part = entry_.part_version();
  const std::string validator = part.Validator();
  if (entry_.part_bytes() > 0 && !validator.empty() &&
      (part.bytes < 0 || entry_.part_bytes() < part.bytes)) {
    request.offset = entry_.part_bytes();
    request.headers.push_back("If-Range: " + validator);
    return;
  }
  if (!copy_) return;
  const FileVersion copy = entry_.version();
  if (!copy.etag.empty()) {
    request.headers.push_back("If-None-Match: " + copy.etag);
  } else if (!copy.last_modified.empty()) {
    request.headers.push_back("If-Modified-Since: " + copy.last_modified);
  }
}

absl::Status Download::Answered(const HttpRequest& request,
                                const HttpResponse& response) {
  response_ = response;
  switch (response.status) {
    case 200:
      return BeginAnew(response);
    case 206:
      if (request.offset == 0) {
        return absl::FailedPreconditionError(
            "the server answered 206, with a part of the file, and was asked "
            "for all of it; expected 200");
      }
      return GoOn(response);
    case 304:
      is_unchanged_ = copy_.has_value();
      return absl::OkStatus();
    case 416:
      RETURN_IF_ERROR(entry_.DropPart());
      return absl::AbortedError("the server has no such range of the file");
    default:
      return absl::OkStatus();
  }
}

absl::Status Download::BeginAnew(const HttpResponse& response) {
  FileVersion version;
  version.etag = response.Header("etag");
  version.last_modified = response.Header("last-modified");
  version.bytes = response.length;
  version.sha256 = StoredSha256(response);
  RETURN_IF_ERROR(entry_.Begin(version));
  // Its room may be needed.
  copy_.reset();
  reserved_ = 0;
  return Reserve(std::max<int64_t>(0, version.bytes));
}

absl::Status Download::GoOn(const HttpResponse& response) {
  int64_t first = 0;
  int64_t total = 0;
  const std::string range = response.Header("content-range");
  const FileVersion& part = entry_.part_version();
  const std::string etag = response.Header("etag");
  const bool fits = ReadContentRange(range, first, total) &&
                    first == entry_.part_bytes() &&
                    (part.bytes < 0 || total == part.bytes) &&
                    (etag.empty() || part.etag.empty() || etag == part.etag);
  if (fits) {
    RETURN_IF_ERROR(Reserve(total));
    return entry_.SetPartSize(total);
  }
  RETURN_IF_ERROR(entry_.DropPart());
  return absl::AbortedError(
      absl::StrCat("the server sent another range (\"", PeerText(range),
                   "\") or version than it was asked for"));
}

absl::Status Download::Reserve(int64_t bytes) {
  if (bytes > options_.limit_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "has ", bytes, " bytes or more, which is above the cache's limit of ",
        options_.limit_bytes, " bytes"));
  }
  if (bytes <= reserved_) return absl::OkStatus();
  RETURN_IF_ERROR(MakeRoom(options_.folder, entry_.folder(), bytes,
                           options_.limit_bytes, options_.network.patience));
  reserved_ = bytes;
  return absl::OkStatus();
}

absl::Status Download::ReserveMore(int64_t bytes) {
  if (bytes <= reserved_) return absl::OkStatus();
  int64_t more = std::clamp(bytes, kMinReservedStep, kMaxReservedStep);
  while (true) {
    const absl::Status status =
        Reserve(std::max(bytes, std::min(bytes + more, options_.limit_bytes)));
    if (!absl::IsResourceExhausted(status) || more == 0) return status;
    more /= 4;
  }
}

absl::Status Download::Take(absl::string_view bytes) {
  if (IsRedirect(response_.status)) return absl::CancelledError("a redirect");
  if (response_.status != 200 && response_.status != 206) {
    absl::StrAppend(&refusal_text_, bytes.substr(0, kMaxRefusalBytes));
    return refusal_text_.size() < kMaxRefusalBytes ? absl::OkStatus()
                                                   : Refusal();
  }
  const int64_t size = entry_.part_bytes() + static_cast<int64_t>(bytes.size());
  if (entry_.part_version().bytes >= 0) {
    if (size > entry_.part_version().bytes) {
      return absl::FailedPreconditionError(
          absl::StrCat("the server sends more than the ",
                       entry_.part_version().bytes, " bytes that it said"));
    }
  } else {
    RETURN_IF_ERROR(ReserveMore(size));
  }
  RETURN_IF_ERROR(entry_.Append(bytes));
  bytes_come_ += static_cast<int64_t>(bytes.size());
  on_progress_();
  return absl::OkStatus();
}

absl::StatusOr<std::string> Download::Follow(const std::string& from,
                                             const std::string& to) const {
  if (url_.scheme == RemoteUrl::Scheme::kS3) {
    const std::string region = response_.Header("x-amz-bucket-region");
    return absl::FailedPreconditionError(absl::StrCat(
        "the server redirects to another one",
        region.empty()
            ? ""
            : absl::StrCat(", since the bucket is in ", PeerText(region)),
        "; expected the region (AWS_REGION) or endpoint (AWS_ENDPOINT_URL) of "
        "the bucket"));
  }
  absl::StatusOr<RemoteUrl> next = ParseRemoteUrl(to.substr(0, to.find('#')));
  if (!next.ok() || next->scheme == RemoteUrl::Scheme::kS3) {
    return absl::FailedPreconditionError(
        absl::StrCat("the server redirects to \"", ShownUrl(to),
                     "\"; expected http:// or https://"));
  }
  if (absl::StartsWith(from, "https:") &&
      next->scheme == RemoteUrl::Scheme::kHttp) {
    return absl::FailedPreconditionError(
        absl::StrCat("the server redirects from https to ", next->Shown()));
  }
  if (options_.allowed && !CheckAllowed(*next, *options_.allowed).ok()) {
    return absl::PermissionDeniedError(
        absl::StrCat("the server redirects to ", next->Shown(),
                     ", which no --data of the daemon allows"));
  }
  return next->Address();
}

absl::Status Download::Refusal() const {
  std::string text = absl::StrCat("the server answered ", response_.status);
  // Of S3's answers; others may have anything.
  const std::string code = Element(refusal_text_, "Code");
  if (!code.empty()) {
    absl::StrAppend(&text, ", ", PeerText(code), ": ",
                    PeerText(Element(refusal_text_, "Message")));
  }
  return absl::Status(CodeOf(response_.status), text);
}

}  // namespace paceline
