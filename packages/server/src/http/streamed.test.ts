import { finished } from 'node:stream/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { streamed } from './streamed.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** An endless source of pieces. Its state shows whether it was closed. */
function source() {
  const state = { made: 0, isGivenBack: false }
  async function* pieces() {
    try {
      for (;;) {
        state.made++
        yield Buffer.alloc(64 * 1024)
      }
    } finally {
      state.isGivenBack = true
    }
  }
  return { state, pieces: pieces() }
}

test('a client that reads nothing for 45 seconds is cut off, and the source of the answer is closed', async () => {
  const { state, pieces } = source()
  const { body } = await streamed(pieces)
  const ended = finished(body).catch((error: Error) => error.message)
  body.read(1)
  await vi.advanceTimersByTimeAsync(44_000)
  expect([body.destroyed, state.isGivenBack]).toEqual([false, false])
  const madeBefore = state.made
  await vi.advanceTimersByTimeAsync(2000)
  expect(await ended).toBe('nobody reads the answer')
  expect(state).toEqual({ made: madeBefore, isGivenBack: true })
})

test('a slow client that keeps reading is served', async () => {
  const { state, pieces } = source()
  const { body } = await streamed(pieces)
  for (let n = 0; n < 5; n++) {
    await vi.advanceTimersByTimeAsync(40_000)
    body.read()
  }
  expect([body.destroyed, state.isGivenBack]).toEqual([false, false])
  body.destroy()
  await vi.advanceTimersByTimeAsync(0)
  expect(state.isGivenBack).toBe(true)
})

test('a failure before the first piece is thrown, and a later failure cuts the answer off', async () => {
  async function* failing(after: number) {
    for (let n = 0; n < after; n++) yield Buffer.from('piece')
    throw new Error('the source failed')
  }
  await expect(streamed(failing(0))).rejects.toThrow('the source failed')
  const { body } = await streamed(failing(1))
  const ended = finished(body).catch((error: Error) => error.message)
  body.resume()
  expect(await ended).toBe('the source failed')
})

test('the memory of a sent piece is freed when the next one is produced, unless it is shared', async () => {
  const size = 64 * 1024
  const shared = Buffer.alloc(2 * size)
  const pieces = [Buffer.alloc(size), Buffer.alloc(size), shared.subarray(size), Buffer.alloc(size)]
  async function* source() {
    yield* pieces
  }
  const answer = await streamed(source())
  const to = { writableLength: 0 }
  const body = answer.sentTo(to)
  /** Reads a piece. The next one is produced while `unsent` bytes have not been sent. */
  const take = async (unsent: number) => {
    to.writableLength = unsent
    body.read()
    await vi.advanceTimersByTimeAsync(0)
    return pieces.map(({ byteLength }) => byteLength > 0)
  }
  await take(0) // asks for the first
  expect(await take(1)).toEqual([true, true, true, true])
  expect(await take(0)).toEqual([true, false, true, true])
  expect(await take(0)).toEqual([true, false, true, true])
  expect(await take(0)).toEqual([true, false, true, false])
  expect(shared.byteLength).toBe(2 * size)
})
