import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { makeTemplate, type Template } from '../../test/db/template.ts'
import { type EmbeddedDatabase, type EmbeddedOptions, openEmbedded } from './embedded.ts'

const ownerProgram = fileURLToPath(new URL('../../test/db/owner.ts', import.meta.url))
const walFile = /^[0-9A-F]{24}$/

let template: Template
let opened: EmbeddedDatabase[] = []
let children: ChildProcessWithoutNullStreams[] = []

beforeAll(async () => {
  template = await makeTemplate((db) => db.script('create table items (id integer primary key, note text)'))
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const db of opened) await db.close()
  opened = []
  children = []
})
afterAll(() => template.remove())

async function open(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  const db = await openEmbedded(dataDir, options)
  opened.push(db)
  return db
}

/** Starts a process that opens the data directory, and reads the lines that it prints. */
function spawnOwner(dataDir: string, ...args: string[]) {
  const child = spawn(process.execPath, [ownerProgram, dataDir, ...args])
  children.push(child)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return { child, nextLine: async () => (await lines.next()).value as string }
}

async function kill9(child: ChildProcessWithoutNullStreams): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

const modeOf = (path: string) => statSync(path).mode & 0o777

const insert = 'insert into items values ($1, $2)'

describe('the data directory', () => {
  it('that another process has open is refused, with the pid of that process', async () => {
    const dataDir = await template.copy()
    const { child, nextLine } = spawnOwner(dataDir)
    expect(await nextLine()).toBe('ready')
    await expect(openEmbedded(dataDir)).rejects.toThrow(`is in use by process ${child.pid}, running since`)
  })

  it('that this process already has open is refused', async () => {
    const dataDir = await template.copy()
    await open(dataDir)
    await expect(openEmbedded(dataDir)).rejects.toThrow(`is in use by process ${process.pid}`)
  })

  it('that cannot be written to is refused with its path and the reason', async () => {
    const root = mkdtempSync(join(tmpdir(), 'skerry-refused-'))
    mkdirSync(join(root, 'owner.lock'))
    await expect(openEmbedded(root)).rejects.toThrow(`The data directory ${root} cannot be written to (EISDIR`)
    writeFileSync(join(root, 'file'), '')
    const below = join(root, 'file', 'data')
    await expect(openEmbedded(below)).rejects.toThrow(`The data directory ${below} cannot be written to (ENOTDIR`)
    rmSync(root, { recursive: true })
  })

  it('of a killed process can be opened at once, with every acknowledged row and no partial transaction', async () => {
    const dataDir = await template.copy()
    for (let round = 0, before = 0; round < 3; round++) {
      const { child, nextLine } = spawnOwner(dataDir, 'write')
      expect(await nextLine()).toBe('ready')
      let acknowledged = 0
      for (let i = 0; i < 20; i++) acknowledged = Number(await nextLine())
      expect(acknowledged).toBeGreaterThan(before)
      await kill9(child)
      const db = await openEmbedded(dataDir)
      const [row] = await db.rows<{ n: number; whole: number }>(
        'select count(*) as n, count(*) filter (where other = n) as whole from acknowledged',
      )
      await db.close()
      expect(row?.n).toBeGreaterThanOrEqual(acknowledged)
      expect(row?.whole).toBe(row?.n)
      before = row?.n ?? 0
    }
  })

  it('that other users may enter protects its files from them, even if an earlier release did not', async () => {
    const dataDir = await template.copy()
    chmodSync(join(dataDir, 'postgres'), 0o755)
    writeFileSync(join(dataDir, 'owner.lock'), '', { mode: 0o644 })
    await open(dataDir)
    const modes = ['postgres', 'owner.lock', 'owner.json'].map((name) => modeOf(join(dataDir, name)))
    expect(modes).toEqual([0o700, 0o600, 0o600])
  })

  it('that PostgreSQL refuses is reported with its error text, and can be opened once it is repaired', async () => {
    const dataDir = await template.copy()
    const version = join(dataDir, 'postgres', 'PG_VERSION')
    const right = readFileSync(version)
    writeFileSync(version, '12\n')
    await expect(openEmbedded(dataDir)).rejects.toThrow('database files are incompatible with server')
    writeFileSync(version, right)
    expect(await (await open(dataDir)).rows('select id from items')).toEqual([])
  })

  it('is unlocked by close, and can be opened again at once', async () => {
    const dataDir = await template.copy()
    const db = await open(dataDir)
    await db.rows(insert, [1, 'kept'])
    await Promise.all([db.close(), db.close()])
    expect(await (await open(dataDir)).rows('select id from items')).toEqual([{ id: 1 }])
  })
})

describe('creating a database', () => {
  it('starts over after a killed attempt, and removes its files', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'skerry-create-'))
    const draft = join(dataDir, 'postgres.new-killed')
    mkdirSync(join(draft, 'base'), { recursive: true })
    writeFileSync(join(draft, 'PG_VERSION'), '1')
    const lines: string[] = []
    const db = await open(dataDir, { log: (line) => lines.push(line) })
    expect(await db.row('select 1 as one')).toEqual({ one: 1 })
    expect(lines).toEqual(['Creating the embedded database'])
    expect(existsSync(draft)).toBe(false)
    expect(modeOf(join(dataDir, 'postgres'))).toBe(0o700)
    await db.close()
    rmSync(dataDir, { recursive: true })
  })

  it('and using it takes less than 250 MB', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'skerry-create-'))
    const { child, nextLine } = spawnOwner(dataDir, 'write')
    expect(await nextLine()).toBe('ready')
    for (let i = 0; i < 300; i++) await nextLine()
    child.stdin.end()
    let last = ''
    for (let line = await nextLine(); line !== undefined; line = await nextLine()) last = line
    expect(last).toMatch(/^peak \d+$/)
    expect(Number(last.slice(5))).toBeLessThan(250)
    rmSync(dataDir, { recursive: true })
  })
})

describe('a commit', () => {
  let synced: string[] = []
  let db: EmbeddedDatabase

  beforeAll(async () => {
    db = await openEmbedded(await template.copy(), { onFsync: (file) => synced.push(file) })
  })
  afterAll(() => db.close())

  it('is synced to disk before it is acknowledged', async () => {
    for (let id = 1; id <= 5; id++) {
      synced = []
      await db.rows(insert, [id, 'a'])
      expect(synced).toContainEqual(expect.stringMatching(walFile))
    }
  })

  it('of several statements is synced once', async () => {
    synced = []
    await db.transaction(async (tx) => {
      for (let id = 10; id < 20; id++) await tx.rows(insert, [id, 'b'])
      expect(synced).toEqual([])
    })
    expect(synced).toEqual([expect.stringMatching(walFile)])
  })

  it('is not needed for reads and rollbacks, which cost no sync', async () => {
    synced = []
    await db.rows('select * from items')
    await db
      .transaction(async (tx) => {
        await tx.rows(insert, [30, 'c'])
        throw new Error('back')
      })
      .catch(() => {})
    expect(synced).toEqual([])
  })

  it('reaches the table files at a checkpoint, which syncs them too', async () => {
    const file = await db.row<{ file: string }>(`select split_part(pg_relation_filepath('items'), '/', 3) as file`)
    synced = []
    await db.rows(insert, [40, 'd'])
    await db.checkpoint()
    expect(synced).toEqual(expect.arrayContaining([file?.file, 'pg_control']))
  })

  it('that could not be synced is not acknowledged, and every later call fails until a restart', async () => {
    const dataDir = await template.copy()
    let failing = false
    const stopped: string[] = []
    const failingDb = await open(dataDir, {
      onFsync() {
        if (failing) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' })
      },
      onStopped: (error) => stopped.push(error.message),
    })
    await failingDb.rows(insert, [1, 'kept'])
    failing = true
    await expect(failingDb.rows(insert, [2, 'lost?'])).rejects.toThrow('The embedded database has stopped')
    failing = false
    await expect(failingDb.rows('select 1')).rejects.toThrow('The embedded database has stopped')
    await expect(failingDb.transaction(async () => {})).rejects.toThrow('The embedded database has stopped')
    expect(stopped).toEqual([expect.stringContaining('could not fsync file')])
    await failingDb.close()
    expect(await (await open(dataDir)).rows('select id from items where id = 1')).toEqual([{ id: 1 }])
  })
})

describe('one connection', () => {
  it('makes statements outside wait for a running transaction', async () => {
    const db = await open(await template.copy())
    const order: string[] = []
    const { promise: started, resolve: start } = Promise.withResolvers<void>()
    const transaction = db.transaction(async (tx) => {
      await tx.rows(insert, [1, 'a'])
      start()
      await new Promise(setImmediate)
      await tx.rows(insert, [2, 'b'])
      order.push('transaction')
    })
    await started
    const outside = db.rows('select id from items').then((rows) => {
      order.push('outside')
      return rows
    })
    await transaction
    expect([await outside, order]).toEqual([
      [{ id: 1 }, { id: 2 }],
      ['transaction', 'outside'],
    ])
  })

  it('lets the event loop run between statements', async () => {
    const db = await open(await template.copy())
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    for (let count = 0; ticks <= 3 && count < 20_000; count++) await db.rows('select 1')
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(3)
  })

  it('starts no statement of a heavy read whose caller hung up while it waited', async () => {
    const db = await open(await template.copy())
    const caller = new AbortController()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const transaction = db.transaction(() => released)
    const read = db.reads(caller.signal).rows('insert into items (id) values (1)')
    caller.abort()
    release()
    await transaction
    await expect(read).rejects.toThrow('aborted')
    expect(await db.rows('select id from items')).toEqual([])
    expect(await db.reads(new AbortController().signal).rows('select 1 as one')).toEqual([{ one: 1 }])
  })

  it('finishes the statements that came before close, and refuses later ones', async () => {
    const db = await open(await template.copy())
    const pending = Promise.all([db.rows(insert, [1, 'a']), db.rows('select id from items')])
    const closed = db.close()
    await expect(db.rows('select 1')).rejects.toThrow('The database has been closed')
    expect((await pending)[1]).toEqual([{ id: 1 }])
    await closed
  })
})

describe('maintenance', () => {
  it('keeps the write-ahead log small and reuses the space of dead rows', async () => {
    const dataDir = await template.copy()
    const db = await open(dataDir)
    const sizeOf = async () => (await db.row<{ size: number }>(`select pg_relation_size('items') as size`))?.size
    await db.rows(`insert into items select n, repeat('x', 500) from generate_series(1, 20000) n`)
    for (let i = 0; i < 6; i++) {
      await db.rows('update items set note = note')
      await db.vacuum()
      await db.checkpoint()
    }
    const full = 20_000 * 550
    expect(await sizeOf()).toBeLessThan(3 * full)
    const wal = readdirSync(join(dataDir, 'postgres', 'pg_wal')).filter((name) => walFile.test(name))
    expect(wal.length * 4).toBeLessThanOrEqual(72) // MB
  })
})
