import { Failure } from '../../failure.ts'

// The kernel's keyring may contain a person's session. No namespace hides it from a program, so a filter blocks the
// system calls that read it.

/** Classic BPF (linux/bpf_common.h, linux/seccomp.h). */
const load = 0x20
const jumpIfEqual = 0x15
const jumpIfGreaterOrEqual = 0x35
const answer = 0x06
const allowed = 0x7fff_0000
/** EPERM. */
const refused = 0x0005_0001

/** `struct seccomp_data`: the number of the call, then the architecture. */
const offsets = { call: 0, architecture: 4 }

/**
 * `add_key`, `request_key` and `keyctl` have consecutive numbers, beginning with `first`. Calls from `limit` on belong
 * to another table.
 */
const architectures: Readonly<Record<string, { audit: number; first: number; limit: number }>> = {
  x64: { audit: 0xc000_003e, first: 248, limit: 0x4000_0000 },
  arm64: { audit: 0xc000_00b7, first: 217, limit: 0xffff_ffff },
}

/**
 * Builds a filter for `bwrap --seccomp`. It refuses the calls that reach the kernel's keyring, and every call of
 * another architecture.
 *
 * @throws Failure if the numbers of the calls are not known.
 */
export function keyringFilter(architecture: string = process.arch): Buffer {
  const row = architectures[architecture]
  if (row === undefined) throw new Failure('failure', `there is no sandbox for ${architecture}`)
  const { audit, first, limit } = row
  // A jump counts the steps that it skips. Jumps lead to the last two steps.
  return Buffer.concat([
    step(load, 0, 0, offsets.architecture),
    step(jumpIfEqual, 0, 5, audit),
    step(load, 0, 0, offsets.call),
    step(jumpIfGreaterOrEqual, 3, 0, limit),
    step(jumpIfGreaterOrEqual, 0, 1, first),
    step(jumpIfGreaterOrEqual, 0, 1, first + 3),
    step(answer, 0, 0, allowed),
    step(answer, 0, 0, refused),
  ])
}

/** `struct sock_filter`. */
function step(code: number, ifTrue: number, ifFalse: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code)
  bytes.writeUInt8(ifTrue, 2)
  bytes.writeUInt8(ifFalse, 3)
  bytes.writeUInt32LE(value, 4)
  return bytes
}
