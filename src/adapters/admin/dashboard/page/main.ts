/** The dashboard: ties the feed to the board, and the board to what is seen. */
import { Feed } from './feed.js';
import { Board } from './model/board.js';
import { createFormats } from './model/formats.js';
import { type Link, linkStatus } from './model/link-status.js';
import { keepToken, keptToken, takeToken } from './token.js';
import { BoardView } from './view/board-view.js';
import { byId } from './view/dom.js';
import { LinkView } from './view/link-view.js';
import { NameText } from './view/name-text.js';

/** Ages are brought up to date so often while nothing comes. */
const TICK_MS = 1000;
/** Events of one burst are drawn together. */
const SETTLE_MS = 50;

const formats = createFormats();
const board = new Board();
const boardView = new BoardView(byId('board', HTMLDivElement), formats);
const linkView = new LinkView(byId('link', HTMLParagraphElement), formats);
const who = new NameText(80);
byId('who', HTMLSpanElement).append(who.element);
const form = byId('token', HTMLFormElement);
const input = byId('token-text', HTMLInputElement);

let link: Link = { kind: 'opening', updatedMs: undefined };
let settling: ReturnType<typeof setTimeout> | undefined;

const feed = new Feed({
  token: keptToken,
  lastSeq: () => board.lastSeq,
  state(state) {
    board.apply(state);
    link = { ...link, updatedMs: Date.now() };
    if (board.historyBehind) void feed.refresh();
    draw();
  },
  record(event) {
    board.record(event);
    settling ??= setTimeout(draw, SETTLE_MS);
  },
  link(kind) {
    const before = link.kind;
    link = { ...link, kind };
    form.hidden = kind !== 'denied';
    if (kind === 'denied' && before !== 'denied') input.focus();
    if (kind === 'denied' && keptToken() !== undefined) {
      byId('token-refused', HTMLParagraphElement).textContent = 'That token was refused.';
    }
    draw();
  },
});

function draw(): void {
  clearTimeout(settling);
  settling = undefined;
  const { state } = board;
  const status = linkStatus(link, Date.now());
  linkView.draw(status, link.kind === 'polling', state?.throttledTotal ?? 0);
  // A tab that nobody looks at takes everything in, and draws when it is looked at.
  if (document.hidden || state === undefined) return;
  const { backendId, hostname, pid } = state;
  who.show(`${backendId === null ? '' : `backend ${backendId}, `}process ${pid} on ${hostname}`);
  boardView.draw(board, status.ageMs ?? 0);
}

/** The reader is back: what is shown may be old, and a connection may have died unnoticed. */
function look(): void {
  draw();
  const { kind } = linkStatus(link, Date.now());
  if (!document.hidden && kind === 'stale') feed.again();
}

takeToken();
addEventListener('hashchange', () => {
  if (takeToken()) feed.again();
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  keepToken(input.value);
  input.value = '';
  feed.again();
});
document.addEventListener('visibilitychange', look);
addEventListener('pageshow', look);
addEventListener('online', look);
setInterval(draw, TICK_MS);
void feed.run();
