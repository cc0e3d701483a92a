import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { problemsOf, problemsOfReleaseImage } from './dockerfile.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const text = readFileSync(`${root}/packages/executor/Dockerfile`, 'utf8')

test('the executor’s image has only what the executor needs, does not run as root, and keeps no secret', () => {
  expect(problemsOf(text, root, 'executor')).toEqual([])
})

test.each([
  [/@sha256:\w+\n/, '\n', 'with a digest'],
  [/node:[\d.]+-slim@/, 'node:24-slim@', 'is not node:'],
  ['USER node\n', '', 'USER root: runs as root'],
  ['USER node\n', 'USER 0:0\n', 'USER 0:0: runs as root'],
  ['USER node\n', 'USER node\nENV SKERRY_EXECUTOR_TOKEN=abc\n', 'is kept in the image'],
  ['ARG BROWSER=', 'ARG NPM_TOKEN', 'ARG NPM_TOKEN: is kept in the image'],
  ['ENTRYPOINT ["node", "packages/executor/src/main.js"]', 'ENTRYPOINT node main.js', 'is run by a shell'],
  ['packages/executor/src/main.js', 'packages/executor/src/start.js', 'runs no file here'],
  [/ENTRYPOINT .*\n/, '', 'ENTRYPOINT: is missing'],
  [/CMD .*/, 'CMD serve', 'CMD: is run by a shell'],
  ['COPY packages ./packages', 'COPY packets ./packages', 'COPY packets: is not there'],
  ['COPY packages ./packages', 'COPY . .', 'COPY .: is not there'],
  [/COPY bench.*\n/, '', 'COPY bench/package.json: is missing'],
  [/COPY --from=build \/app\/packages\/proxy .*\n/, '', 'COPY packages/proxy: is missing'],
  ['/app/packages/proxy ./packages/proxy', '/app/packages/server ./packages/server', 'packages/server: is not needed'],
  ['USER node\n', 'USER node\nADD https://example.com/file /app/\n', 'ADD: is not taken'],
])('a fault in the Dockerfile is found: %s -> %s', (part, instead, problem) => {
  const broken = text.replace(part, instead)
  expect(broken).not.toBe(text)
  expect(problemsOf(broken, root, 'executor')).toContainEqual(expect.stringContaining(problem))
})

const release = readFileSync(`${root}/deploy/Dockerfile`, 'utf8')
const ofRelease = (text: string) => problemsOfReleaseImage(text, root, ['server', 'cli'])

test('the image of a release has the server and the command, does not run as root, and says whether it is healthy', () => {
  expect(ofRelease(release)).toEqual([])
})

test.each([
  [/^ARG NODE_IMAGE=node:[\d.]+-slim/m, 'ARG NODE_IMAGE=node:24-slim', 'is not node:'],
  [/@sha256:\w+/, '', 'with a digest'],
  ['FROM ${NODE_IMAGE}\n', 'FROM node:24\n', 'cannot be pinned'],
  ['USER 65532:65532\n', '', 'runs as root'],
  ['USER 65532:65532\n', 'USER node\n', 'is no number'],
  ['USER 65532:65532\n', 'USER 0:0\n', 'runs as root'],
  [/HEALTHCHECK .*\\\n.*\n/, '', 'HEALTHCHECK: is missing'],
  [/CMD \["skerry-server.*/, 'CMD skerry-server start', 'is run by a shell'],
  ['SKERRY_DATA_DIR=/data', 'SKERRY_SERVER_KEY=abc', 'is kept in the image'],
  ['skerry-cli-*.tgz ./', '. ./', 'is no package of a release'],
  [' --ignore-scripts', '', 'must be npm ci'],
])('a fault in the Dockerfile of the release is found: %s -> %s', (part, instead, problem) => {
  const broken = release.replace(part, instead)
  expect(broken).not.toBe(release)
  expect(ofRelease(broken)).toContainEqual(expect.stringContaining(problem))
})
