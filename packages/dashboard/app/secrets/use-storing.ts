import { useState } from 'react'
import { showToast } from '../ui/toast.ts'
import { applyAll, type Outcome } from './changes.ts'
import type { Column } from './columns.ts'
import { outcomeMessage } from './preview.tsx'
import { rereadAfter } from './write.ts'

/**
 * Stores many secrets into one column from a dialog: how far that is, and what became of it. While it is stored, each secret
 * changes the column: `storing` is as it was shown, so that hundreds of values are not compared anew each time.
 */
export function useStoring(orgId: string) {
  const [storing, setStoring] = useState<Column | null>(null)
  const [progress, setProgress] = useState({ done: 0, of: 0 })
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const store = async (column: Column, names: string[], write: Parameters<typeof applyAll>[1]) => {
    setOutcome(null)
    setStoring(column)
    const onProgress = (done: number) => setProgress({ done, of: names.length })
    const result = await applyAll(names, write, onProgress).finally(() => setStoring(null))
    setOutcome(result)
    const errors = result.failed.map(({ error }) => error)
    await rereadAfter(errors, orgId, column.environmentId)
    if (errors.length > 0) throw errors[0]
    showToast(outcomeMessage(result))
  }
  return { storing, progress, outcome, store, forget: () => setOutcome(null) }
}
