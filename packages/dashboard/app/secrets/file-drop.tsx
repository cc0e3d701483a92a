import './file-drop.css'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { usePlaintext } from '../keyring.ts'
import { readSecretsFile } from '../ui/read-text-file.ts'
import { showErrorToast } from '../ui/toast.ts'
import type { Column } from './columns.ts'

// Loaded when it first opens.
const PasteDialog = lazy(async () => ({ default: (await import('./paste.tsx')).PasteDialog }))

/** Takes a file that is dropped on the page of the matrix, and opens the dialog that stores its values. */
export function FileDrop({ orgId, columns }: { orgId: string; columns: Column[] }) {
  const writable = columns.filter(({ own }) => own)
  const [isOpen, setOpen] = useState(false)
  // The dropped file. Locking the keyring and closing the dialog forget it.
  const [text, setText] = usePlaintext('')
  const isOver = useDrop(async (files) => {
    const [file] = files
    if (!file) return
    const notOpened = (problem: string) => showErrorToast(`${file.name} was not opened`, problem)
    if (files.length > 1) return notOpened('Drop one file at a time.')
    if (writable.length === 0) return notOpened('You hold no key of these environments.')
    const read = await readSecretsFile(file)
    if ('problem' in read) return notOpened(read.problem)
    setText(read.text)
    setOpen(true)
  })
  const close = () => {
    setText('')
    setOpen(false)
  }
  return (
    <>
      {isOver && (
        <div className="drop-over" aria-hidden>
          Drop a .env or JSON file to store its values
        </div>
      )}
      <Suspense>{isOpen && <PasteDialog {...{ orgId, text }} columns={writable} onClose={close} />}</Suspense>
    </>
  )
}

/**
 * Calls `take` with files that are dropped on the page. A drop on an open dialog does nothing: without this, the browser
 * would leave the page and show the file. Returns whether files are dragged over the page.
 */
function useDrop(take: (files: FileList) => Promise<void>): boolean {
  const [isOver, setIsOver] = useState(false)
  const latest = useRef(take)
  latest.current = take
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setIsOver(isOnPage(event))
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setIsOver(false)
    }
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setIsOver(false)
      if (isOnPage(event) && event.dataTransfer) void latest.current(event.dataTransfer.files)
    }
    document.addEventListener('dragover', over)
    document.addEventListener('dragleave', leave)
    document.addEventListener('drop', drop)
    return () => {
      document.removeEventListener('dragover', over)
      document.removeEventListener('dragleave', leave)
      document.removeEventListener('drop', drop)
    }
  }, [])
  return isOver
}

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false

/** Dialogs are beside the root, not in it. */
const isOnPage = ({ target }: DragEvent) =>
  target instanceof Node && (document.getElementById('root')?.contains(target) ?? false)
