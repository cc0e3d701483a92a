import { canonicalJson } from '../../src/canonical-json.ts'
import { signDocument } from '../../src/directory/document.ts'
import type { DirectorySigner } from '../../src/directory/signing.ts'
import { document, firstBody, otherHash, type Scene, signers, start } from '../directory-scene.ts'

// Roots, alone and as successors of another root.

const { ada, adaLaptop, bob, cy, ci, rescueOne, rescueTwo, stranger } = signers

/** Roots alone: their form, their own signatures. */
export async function rootRows({ roots, rootTexts }: Scene) {
  const sign = (change: object, ...by: DirectorySigner[]) => signDocument('or1', { ...firstBody, ...change }, by)
  const body = canonicalJson(firstBody)
  const [, , firstSignatures = ''] = rootTexts[0].split('.')
  const signatures = Buffer.from(firstSignatures, 'base64url').toString()
  const one = firstBody.signers[0]!
  return {
    accepted: [
      { title: 'one signer', text: rootTexts[0], hash: roots[0].hash },
      { title: 'two of three persons', text: rootTexts[1], hash: roots[1].hash },
      { title: 'a token, because one signature is enough', text: await sign({}, ci), hash: roots[0].hash },
      { title: 'a signature by an unknown key', text: await sign({}, ada, stranger), hash: roots[0].hash },
    ],
    refused: [
      {
        title: 'members out of order',
        text: document(body.replace('{"guarded":{},', '{').replace(/}$/, ',"guarded":{}}'), signatures),
        expected: 'directory_malformed',
      },
      {
        title: 'a member twice',
        text: document(body.replace('"v":1', '"v":1,"v":1'), signatures),
        expected: 'directory_malformed',
      },
      {
        title: 'a space',
        text: document(body.replace('"v":1', '"v": 1'), signatures),
        expected: 'directory_malformed',
      },
      {
        title: 'a space in the signatures',
        text: document(body, signatures.replace(':', ': ')),
        expected: 'directory_malformed',
      },
      {
        title: 'a signature twice',
        text: document(body, signatures.replace(/^\[(.*)\]$/, '[$1,$1]')),
        expected: 'directory_malformed',
      },
      { title: 'no signature', text: document(body, '[]'), expected: 'directory_malformed' },
      { title: 'an unknown member', text: await sign({ more: 1 }, ada), expected: 'directory_malformed' },
      { title: 'another version', text: await sign({ v: 2 }, ada), expected: 'directory_unsupported' },
      {
        title: 'witnesses',
        text: await sign({ witnesses: [{ alg: 'ES256', key: otherHash, name: 'w' }], quorum: 1 }, ada),
        expected: 'directory_unsupported',
      },
      {
        title: 'guarded environments',
        text: await sign({ guarded: { [otherHash]: 1 } }, ada),
        expected: 'directory_unsupported',
      },
      {
        title: 'a kid that is not of its key',
        text: await sign({ signers: [{ ...one, kid: otherHash }] }, ada),
        expected: 'directory_malformed',
      },
      {
        title: 'the same signer twice',
        text: await sign({ signers: [one, one] }, ada),
        expected: 'directory_malformed',
      },
      {
        title: 'a threshold above the persons',
        text: await sign({ threshold: 2 }, ada, adaLaptop, ci),
        expected: 'directory_malformed',
      },
      { title: 'a threshold of 9', text: await sign({ threshold: 9 }, ada), expected: 'directory_malformed' },
      { title: 'a second root after none', text: await sign({ version: 2 }, ada), expected: 'directory_malformed' },
      { title: 'the signature of a stranger', text: await sign({}, stranger), expected: 'directory_unsigned' },
      {
        title: 'the signatures of the rescue keys alone',
        text: await sign({}, rescueOne, rescueTwo),
        expected: 'directory_unsigned',
      },
      {
        title: 'a signature by another key under a kid',
        text: await sign({}, { ...bob, kid: ada.kid }),
        expected: 'directory_unsigned',
      },
      {
        title: 'one person on two machines, and a token, where two persons are needed',
        text: await signDocument('or1', roots[1].body, [ada, adaLaptop, ci]),
        expected: 'directory_unsigned',
      },
      { title: 'a head', text: rootTexts[0].replace('or1', 'od1'), expected: 'directory_malformed' },
    ],
  }
}

/** A root after another one. */
export async function stepRows({ rootTexts: [before, after], roots }: Scene) {
  const { body } = roots[1]
  const everyone = [ada, bob, cy, ci, rescueOne, rescueTwo]
  const sign = (change: object, ...by: DirectorySigner[]) => signDocument('or1', { ...body, ...change }, by)
  return {
    accepted: [
      { title: 'a signer of the root before', before, after },
      { title: 'the rescue keys instead', before, after: await sign({}, bob, cy, rescueOne, rescueTwo) },
    ],
    refused: [
      { title: 'nobody of the root before', before, after: await sign({}, bob, cy), expected: 'directory_unsigned' },
      {
        title: 'one rescue key of two',
        before,
        after: await sign({}, bob, cy, rescueOne),
        expected: 'directory_unsigned',
      },
      {
        title: 'another organization',
        before,
        after: await sign({ org: 'org_1111111111111111111111' }, ...everyone),
        expected: 'directory_other_org',
      },
      {
        title: 'another nonce',
        before,
        after: await sign({ nonce: 'AAAAAAAAAAAAAAAAAAAAAA' }, ...everyone),
        expected: 'directory_broken_chain',
      },
      {
        title: 'a version left out',
        before,
        after: await sign({ version: 3 }, ...everyone),
        expected: 'directory_broken_chain',
      },
      {
        title: 'another root before',
        before,
        after: await sign({ prev: otherHash }, ...everyone),
        expected: 'directory_broken_chain',
      },
      {
        title: 'an earlier time',
        before,
        after: await sign({ issuedAt: start - 1 }, ...everyone),
        expected: 'directory_broken_chain',
      },
    ],
  }
}
