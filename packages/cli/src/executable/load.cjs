const { getAsset } = require('node:sea')
const { compileFunction } = require('node:vm')

// The first code of the single executable. It loads the files of the built command, which are inside the executable, each
// when it is first needed. Node itself loads only its own modules there.

/** @type {Record<string, { exports: object }>} */
const loaded = {}

/** @param {string} name  a file of the executable, as `./name.js`, or a module of Node */
function load(name) {
  if (!name.startsWith('./')) return require(name)
  if (loaded[name]) return loaded[name].exports
  const file = { exports: {} }
  loaded[name] = file
  const parameters = ['exports', 'require', 'module', '__filename']
  const run = compileFunction(getAsset(name, 'utf8'), parameters, { filename: `skerry:${name.slice(2)}` })
  run(file.exports, load, file, process.execPath)
  return file.exports
}

load('./main.js')
