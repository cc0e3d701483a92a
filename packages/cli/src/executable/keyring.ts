import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getRawAsset } from 'node:sea'
import { writePrivate } from '../files.ts'
import { cacheFolder } from '../folders.js'

// The single executable contains the native code of the package @napi-rs/keyring, and its build puts this module in the
// place of that package. The system loads native code only from a file. So the code is written into the cache folder,
// where nobody else can write, and compared with the executable's copy before each use.

type Keyring = Pick<typeof import('@napi-rs/keyring'), 'Entry'>

const code = Buffer.from(getRawAsset('keyring.node') as ArrayBuffer)
const path = join(cacheFolder(), 'keyring.node')
if (!existsSync(path) || !readFileSync(path).equals(code)) writePrivate(path, code)
const native: { exports: Partial<Keyring> } = { exports: {} }
process.dlopen(native, path)

export const { Entry } = native.exports as Keyring
