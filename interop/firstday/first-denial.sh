#!/bin/sh
# Times a new user's way, from nothing to the first denied call of a real Claude Code, in a home of its own:
#
#     sh first-denial.sh DIRECTORY     # with the programs stopgate and stopgate-hook
#
# Claude Code comes from npm; a scripted model on the loopback takes the place of the real one, and makes it call a tool
# that must be denied. It prints the seconds since the beginning after each step, and fails if the call ran.
set -eu
programs=$(cd "$1" && pwd)
version=${CLAUDE_CODE_VERSION:-2.1.330}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cache=${npm_config_cache:-$HOME/.npm}
export HOME="$work/home" XDG_CONFIG_HOME= XDG_STATE_HOME= npm_config_cache="$cache"
unset CLAUDE_CONFIG_DIR
mkdir -p "$HOME" "$work/shop/.git" "$work/bin"
began=$(date +%s)
step() { printf '%4d s  %s\n' $(($(date +%s) - began)) "$1"; }

step "nothing: no stopgate, no agent, an empty home"
cp "$programs/stopgate" "$programs/stopgate-hook" "$work/bin"
export PATH="$work/bin:$work/agent/node_modules/.bin:$PATH"
step "stopgate is installed: $(stopgate version | head -n 1)"
npm install --silent --no-audit --no-fund --prefix "$work/agent" "@anthropic-ai/claude-code@$version" >/dev/null
mkdir "$HOME/.claude"
step "Claude Code is installed: $(claude --version)"
cd "$work/shop"
printf 'module example.com/shop\n' > go.mod
printf 'package main\n' > main.go
find "$HOME/.claude" . -type f -exec cksum {} + | sort > "$work/before"
stopgate start --yes > "$work/start.txt" 2>&1 || { cat "$work/start.txt"; exit 1; }
step "stopgate start: policy, trust, hook, doctor"
stopgate doctor claude-code --live > "$work/live.txt" 2>&1 || { cat "$work/live.txt"; exit 1; }
grep -i 'claude' "$work/live.txt" | head -n 3
step "a real Claude Code was denied its first call"
stopgate stop --yes > /dev/null
find "$HOME/.claude" . -type f -exec cksum {} + | sort > "$work/after"
cmp "$work/before" "$work/after"
step "stopgate stop: every file is as before"
