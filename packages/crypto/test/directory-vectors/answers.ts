import { signDocument } from '../../src/directory/document.ts'
import type { DirectoryAnswer } from '../../src/directory/verify.ts'
import { day, freshAnswer, freshTrust, org, otherHash, type Scene, signers, start } from '../directory-scene.ts'

// Answers of a server, which a client verifies.

const { ada, rescueOne, stranger } = signers

/** Whole answers to a client, with its trust: the pins, its memory, its clock, and what it wants to do. */
export async function answerRows(scene: Scene) {
  const [fresh, trust] = [freshAnswer(scene), freshTrust(scene)]
  const memory = {
    org,
    root: { version: 2, hash: scene.roots[1].hash },
    head: { version: 2, hash: scene.heads[1].hash },
    time: start + day,
    pins: [scene.roots[0].hash],
  }
  const newest = scene.heads[2].body
  const headSigned = (change: object, by = ada) => signDocument('od1', { ...newest, ...change }, [by])
  const now = newest.issuedAt
  const known = { ...memory, head: { version: 3, hash: scene.heads[2].hash }, time: now }
  const row = (title: string, expected: string, answer: object, more: object = {}) => ({
    title,
    answer: { ...fresh, ...answer },
    trust: { ...trust, ...more },
    expected,
  })
  const remembered = { roots: [scene.rootTexts[1]] }
  const rows = {
    accepted: [
      { title: 'a client with a pin', answer: fresh, trust, known },
      { title: 'a client with memory', answer: { ...fresh, ...remembered }, trust: { ...trust, known: memory }, known },
      { title: 'the same head again', answer: { ...fresh, ...remembered }, trust: { ...trust, known }, known },
      { title: 'the last second to read', answer: fresh, trust: { ...trust, now: now + 30 * day }, known },
      {
        title: 'the last second to write',
        answer: fresh,
        trust: { ...trust, now: now + 14 * day, purpose: 'write' },
        known,
      },
      { title: 'ten minutes early', answer: fresh, trust: { ...trust, now: now - 600 }, known },
    ],
    refused: [
      row('no pin', 'directory_unpinned', {}, { pins: [] }),
      row('another pin', 'directory_unpinned', {}, { pins: [{ root: otherHash, leastHead: 1 }] }),
      row(
        'a chain without one pin of two',
        'directory_unpinned',
        {},
        { pins: [...trust.pins, { root: otherHash, leastHead: 1 }] },
      ),
      row('a chain that begins after the pin', 'directory_unpinned', remembered),
      row('a root left out', 'directory_broken_chain', { roots: [scene.rootTexts[0], scene.rootTexts[0]] }),
      row('a head of the root before', 'directory_broken_chain', { heads: [scene.headTexts[0]] }),
      row('a head signed by a stranger', 'directory_unsigned', { heads: [await headSigned({}, stranger)] }),
      row('a head signed by a rescue key', 'directory_unsigned', { heads: [await headSigned({}, rescueOne)] }),
      row('a head below the pin', 'directory_rolled_back', {}, { pins: [{ ...trust.pins[0], leastHead: 4 }] }),
      row('another organization', 'directory_other_org', {}, { org: 'org_1111111111111111111111' }),
      row('a classic token', 'directory_too_weak', {}, { token: 'classic' }),
      row(
        'an older root than known',
        'directory_rolled_back',
        { roots: [scene.rootTexts[0]], heads: [scene.headTexts[0]] },
        { known },
      ),
      row('an older head than known', 'directory_rolled_back', { heads: [scene.headTexts[1]] }, { known }),
      row(
        'another head of the known version',
        'directory_rolled_back',
        { heads: [await headSigned({ count: 1 })] },
        { known },
      ),
      row(
        'a head that does not continue the known one',
        'directory_broken_chain',
        { heads: [await headSigned({ prev: otherHash })] },
        { known: memory },
      ),
      row('a second too old to read', 'directory_stale', {}, { now: now + 30 * day + 1 }),
      row('a second too old to write', 'directory_stale', {}, { now: now + 14 * day + 1, purpose: 'write' }),
      row('more than ten minutes early', 'directory_from_future', {}, { now: now - 601 }),
    ],
  }
  return withNamedDocuments(rows)
}

/** The rows of answers with names instead of texts, and the texts by their names. Many rows have the same documents. */
function withNamedDocuments(rows: Record<string, { answer: DirectoryAnswer }[]>) {
  const names = new Map<string, string>()
  const nameOf = (text: string) => {
    if (!names.has(text)) names.set(text, `document ${names.size + 1}`)
    return names.get(text) as string
  }
  const named = Object.entries(rows).map(([list, all]) => [
    list,
    all.map(({ answer: { roots, heads }, ...row }) => ({
      ...row,
      answer: { roots: roots.map(nameOf), heads: heads.map(nameOf) },
    })),
  ])
  return { documents: Object.fromEntries([...names].map(([text, name]) => [name, text])), ...Object.fromEntries(named) }
}
