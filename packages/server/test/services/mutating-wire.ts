import { connect } from 'node:net'
import { openSocketServer } from './socket-server.ts'

/** A TCP proxy that changes one piece of a server's data in each connection, at a random place. */
export interface MutatingWire {
  port: number
  /** The number of changed pieces. */
  readonly changed: number
  /** Sets the port of the real server, which a suite may learn only after it has opened the wire. */
  to(port: number): void
  close(): Promise<void>
}

/** Returns a generator of numbers from 0 to 1 that is the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** @param pieces one of the first so many pieces is changed; a connection with fewer pieces may stay unchanged */
export async function openMutatingWire(seed: number, pieces: number): Promise<MutatingWire> {
  const random = randomFrom(seed)
  let real = 0
  let changed = 0
  const server = await openSocketServer((client, { keep }) => {
    const upstream = connect(real, '127.0.0.1')
    keep(upstream)
    let piecesLeft = Math.floor(random() * pieces)
    client.pipe(upstream)
    upstream.on('data', (piece) => {
      if (piecesLeft-- === 0) {
        changed++
        client.write(mutate(piece, random))
      } else client.write(piece)
    })
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.end())
  })
  return {
    port: server.port,
    get changed() {
      return changed
    },
    to(port) {
      real = port
    },
    close: server.close,
  }
}

type Mutation = (piece: Buffer, at: number, random: () => number) => Buffer

const mutations: Mutation[] = [
  (piece, at, random) => set(piece, at, Math.floor(random() * 256)),
  (piece, at) => set(piece, at, 0xff),
  (piece, at) => set(piece, at, 0),
  (piece, at, random) => set(piece, at, (piece[at] ?? 0) ^ (1 << Math.floor(random() * 8))),
  // Many lengths are numbers of four bytes. These two mutations write a huge one and a negative one.
  (piece, at) => Buffer.concat([piece.subarray(0, at), Buffer.from('7fffffff', 'hex'), piece.subarray(at + 4)]),
  (piece, at) => Buffer.concat([piece.subarray(0, at), Buffer.from('80000000', 'hex'), piece.subarray(at + 4)]),
  (piece, at) => piece.subarray(0, at),
  (piece, at) => Buffer.concat([piece.subarray(0, at), piece.subarray(at + 1)]),
  (piece) => Buffer.concat([piece, piece]),
  (piece, at, random) => {
    const noise = Buffer.from(Array.from({ length: 64 }, () => Math.floor(random() * 256)))
    return Buffer.concat([piece.subarray(0, at), noise, piece.subarray(at)])
  },
]

function mutate(piece: Buffer, random: () => number): Buffer {
  const how = mutations[Math.floor(random() * mutations.length)] as Mutation
  return how(piece, Math.floor(random() * piece.length), random)
}

function set(piece: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(piece)
  copy[at] = value
  return copy
}
