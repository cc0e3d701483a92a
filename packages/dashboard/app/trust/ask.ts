import { pinPrompt } from '../prompts.ts'
import { session } from '../session.ts'

let question: { orgId: string } | undefined
/** Organizations whose changes a person has decided not to sign until the page is loaded again, or the session ends. */
const unsigned = new Set<string>()
session.onEnd(() => unsigned.clear())

/**
 * Asks the person for the pin of an organization's directory. The dialog verifies the directory and remembers it.
 *
 * @returns false if the person goes on without signing.
 */
export async function askForPin(orgId: string): Promise<boolean> {
  if (unsigned.has(orgId)) return false
  question = { orgId }
  await pinPrompt.ask()
  return !unsigned.has(orgId)
}

/** The organization that the dialog is about. */
export const pinQuestion = (): string => question?.orgId ?? ''

export function goOnUnsigned(): void {
  unsigned.add(pinQuestion())
  pinPrompt.complete()
}
