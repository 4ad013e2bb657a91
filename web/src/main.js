// SPDX-License-Identifier: MIT
// The page of openetw view.
import { html, render } from './ui.js';
import { start } from './state.js';
import { App } from './shell/shell.js';

render(html`<${App} />`, document.getElementById('app'));
start();
